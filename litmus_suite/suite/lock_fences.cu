// A spin lock with both fences.
// expect: none
// weak: never
// result: x 4 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&flag[0], 0, 1) != 0) {
    }
    __threadfence();
    x[0] = x[0] + 1;
    __threadfence();
    atomicExch(&flag[0], 0);
  }
}

LITMUS(4, 32)
