// Block-scope atomics of two warps of one block.
// expect: none
// weak: never
// result: x 2 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (LANE(0)) {
    atomicAdd_block(&x[0], 1);
  }
}

LITMUS(1, 64)
