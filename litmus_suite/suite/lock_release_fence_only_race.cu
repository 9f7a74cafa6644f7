// The lock is not fenced.
// expect: race inter-block global
// weak: fails
// missing: no fence follows
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&flag[0], 0, 1) != 0) {
    }
    x[0] = x[0] + 1;  // RACE
    __threadfence();
    atomicExch(&flag[0], 0);
  }
}

LITMUS(4, 32)
