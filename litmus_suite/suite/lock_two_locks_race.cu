// Two blocks protect one word with two locks.
// expect: race inter-block global
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&flag[blockIdx.x], 0, 1) != 0) {
    }
    __threadfence();
    x[0] = x[0] + 1;  // RACE
    __threadfence();
    atomicExch(&flag[blockIdx.x], 0);
  }
}

LITMUS(2, 32)
