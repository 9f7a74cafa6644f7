// Two warps write one shared word.
// expect: race intra-block shared
// variable: s[]
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  if (LANE(0)) {
    s[0] = threadIdx.x;  // RACE
  }
  __syncthreads();
  out[threadIdx.x] = s[0];
}

LITMUS(1, 64)
