// As lock_order_race, with what the lock is for inside it.
// expect: none
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&flag[0], 0, 1) != 0) {
    }
    __threadfence();
    flag[1] += 1;
    if (blockIdx.x == 0) {
      x[0] = 1;
    } else {
      out[0] = x[0];
    }
    __threadfence();
    atomicExch(&flag[0], 0);
  }
}

LITMUS(2, 32)
