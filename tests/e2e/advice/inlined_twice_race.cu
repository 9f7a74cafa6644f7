// A function that is inlined twice, with no loop around it.
// expect: race - shared
// missing: is missing between the two accesses \(warp
#include "../../../litmus_suite/litmus.h"

__device__ __forceinline__ void shift(int* cells, int at) {
  const int next = cells[at + 1];  // RACE
  cells[at] = next + 1;            // RACE
}

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int cells[130];
  cells[threadIdx.x] = x[threadIdx.x];
  cells[threadIdx.x + 66] = 0;
  __syncthreads();
  shift(cells, threadIdx.x);
  shift(cells, threadIdx.x + 1);
  __syncthreads();
  out[threadIdx.x] = cells[threadIdx.x];
}

LITMUS(1, 64)
