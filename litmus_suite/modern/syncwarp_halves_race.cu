// The halves of a warp wait each for themselves; one reads from the other.
// expect: race intra-warp shared
// variable: s[]
// weak: fails
// expect paper: none
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;  // RACE
  if (threadIdx.x < 16) {
    __syncwarp(0x0000ffff);
    out[threadIdx.x] = s[threadIdx.x + 16];  // RACE
  } else {
    __syncwarp(0xffff0000);
  }
}

LITMUS(1, 32)
