// Two pairs of warps, a barrier of its own for each; a warp reads what the other pair wrote.
// expect: race intra-block shared
// variable: s[]
// weak: fails
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[128];
  s[threadIdx.x] = threadIdx.x;  // RACE
  if (threadIdx.x < 64) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");
  }
  out[threadIdx.x] = s[threadIdx.x ^ 64];  // RACE
}

LITMUS(1, 128)
