// Lanes of one store write different values to one shared word.
// expect: race intra-warp shared
// variable: s[]
// weak: fails
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  s[0] = threadIdx.x;  // RACE
  __syncthreads();
  out[threadIdx.x] = s[0];
}

LITMUS(1, 32)
