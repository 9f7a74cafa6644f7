// A thread that arrives without waiting reads what the waiting side wrote.
// expect: race intra-block shared
// variable: s[]
// weak: fails
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  if (WARP(0)) {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x];  // RACE
  } else {
    s[threadIdx.x - 32] = threadIdx.x;  // RACE
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
}

LITMUS(1, 64)
