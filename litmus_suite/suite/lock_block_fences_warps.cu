// Block-wide fences suffice for a lock among warps of a block.
// expect: none
// weak: never
// result: x 4 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (LANE(0)) {
    while (atomicCAS(&flag[0], 0, 1) != 0) {
    }
    __threadfence_block();
    x[0] = x[0] + 1;
    __threadfence_block();
    atomicExch(&flag[0], 0);
  }
}

LITMUS(1, 128)
