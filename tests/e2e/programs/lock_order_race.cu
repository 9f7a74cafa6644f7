// One block writes, then passes a critical section; the other passes it, then reads. The lock
// orders the two if the first block takes it first, and nothing does if the second one is faster.
// expect: none
// expect reversed: race inter-block global
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 1) {
      x[0] = 1;  // RACE
    }
    while (atomicCAS(&flag[0], 0, 1) != 0) {
    }
    __threadfence();
    flag[1] += 1;
    __threadfence();
    atomicExch(&flag[0], 0);
    if (blockIdx.x == 0) {
      out[0] = x[0];  // RACE
    }
  }
}

LITMUS(2, 32)
