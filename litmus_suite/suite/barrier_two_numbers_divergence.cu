// The halves of a block wait at barriers of different numbers: neither can go on.
// expect: barrier-divergence
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x < 32) {
    asm volatile("bar.sync 0;" ::: "memory");  // DIVERGENCE
  } else {
    asm volatile("bar.sync 1;" ::: "memory");  // DIVERGENCE
  }
}

LITMUS(1, 64)
