// A step of a reduction by one warp that counts on volatile and on lanes in lockstep.
// expect: race intra-warp shared
// missing: __syncwarp\(\) is missing
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  volatile __shared__ int sums[64];
  sums[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) {
    const int upper = sums[threadIdx.x + 32];
    sums[threadIdx.x] = sums[threadIdx.x] + upper;  // RACE
    const int half = sums[threadIdx.x + 16];        // RACE
    if (threadIdx.x == 0) {
      out[0] = half;
    }
  }
}

LITMUS(1, 64)
