// Each lane stores to the place that its neighbour stores to one round later.
// expect: race intra-warp shared
// missing: if in different rounds of their loop, __syncwarp\(\) is missing before the next round
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int cells[32];
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    cells[(threadIdx.x + i) % 32] = threadIdx.x * 4 + i;  // RACE
  }
  __syncthreads();
  out[threadIdx.x] = cells[threadIdx.x];
}

LITMUS(1, 32)
