// A function that calls itself adds the halves of what its caller has added, without a barrier.
// expect: race intra-block shared
// missing: __syncthreads\(\) is missing between the two calls of their function
#include "../../../litmus_suite/litmus.h"

__device__ __noinline__ int add_halves(int* cells, int count, int t) {
  if (count == 1) {
    return 0;
  }
  const int half = count / 2;
  if (t < half) {
    cells[t] += cells[t + half];  // RACE
  }
  if (count != 128) {
    __syncthreads();
  }
  return 3 * add_halves(cells, half, t) + 1;
}

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int cells[256];
  cells[threadIdx.x] = 1;
  cells[threadIdx.x + 128] = 1;
  __syncthreads();
  const int calls = add_halves(cells, 256, threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = cells[0] + calls;
}

LITMUS(1, 128)
