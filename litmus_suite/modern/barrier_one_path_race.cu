// The writing warp comes to a barrier, but it is one that the reading warp has no part in.
// expect: race intra-block shared
// variable: s[]
// weak: fails
// missing: is for some warps of the block only|__syncthreads\(\) is missing
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  if (WARP(0)) {
    s[threadIdx.x] = threadIdx.x;  // RACE
    asm volatile("bar.sync 1, 32;" ::: "memory");
  } else {
    out[threadIdx.x] = s[threadIdx.x % 32];  // RACE
  }
}

LITMUS(1, 64)
