// Block-wide fences between two warps of a block.
// expect: none
// weak: never
// result: x 42 out 42
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  volatile int* ready = flag;
  if (THREAD(0, 0)) {
    x[0] = 42;
    __threadfence_block();
    ready[0] = 1;
  }
  if (THREAD(0, 32)) {
    while (ready[0] == 0) {
    }
    __threadfence_block();
    out[0] = x[0];
  }
}

LITMUS(1, 64)
