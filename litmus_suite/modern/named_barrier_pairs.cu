// Two pairs of warps, a barrier of its own for each.
// expect: none
// weak: never
// result: x 0 out 8128
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[128];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 64) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");
  }
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

LITMUS(1, 128)
