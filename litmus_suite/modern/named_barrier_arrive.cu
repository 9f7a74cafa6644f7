// A producer arrives and goes on, a consumer waits for it.
// expect: none
// weak: never
// result: x 0 out 496
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  if (WARP(0)) {
    s[threadIdx.x] = threadIdx.x;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x - 32];
  }
}

LITMUS(1, 64)
