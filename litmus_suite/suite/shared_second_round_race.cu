// The barrier before the second round of writing is missing.
// expect: race intra-block shared
// variable: s[]
// weak: fails
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  for (int round = 0; round < 2; ++round) {
    s[threadIdx.x] = round + threadIdx.x;  // RACE
    __syncthreads();
    out[threadIdx.x] += s[threadIdx.x ^ 32];  // RACE
  }
}

LITMUS(1, 64)
