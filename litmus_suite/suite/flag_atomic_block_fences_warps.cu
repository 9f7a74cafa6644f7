// Block-wide fences and an atomic flag between two warps of a block.
// expect: none
// weak: never
// result: x 42 out 42
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[0] = 42;
    __threadfence_block();
    atomicExch(&flag[0], 1);
  }
  if (THREAD(0, 32)) {
    while (atomicAdd(&flag[0], 0) == 0) {
    }
    __threadfence_block();
    out[0] = x[0];
  }
}

LITMUS(1, 64)
