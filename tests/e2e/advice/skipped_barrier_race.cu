// A sum that leaves out the barrier where one warp is thought to be left: two are.
// expect: race intra-block shared
// missing: __syncthreads\(\) is missing before the next round of their loop
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int cells[256];
  cells[threadIdx.x] = threadIdx.x;
  cells[threadIdx.x + 128] = 1;
  __syncthreads();
#pragma unroll 1
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      cells[threadIdx.x] += cells[threadIdx.x + half];  // RACE
    }
    if (half > 64) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }
  __syncthreads();
  out[threadIdx.x] = cells[0];
}

LITMUS(1, 128)
