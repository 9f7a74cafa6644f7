// Block-wide fences protect nothing between blocks.
// expect: race inter-block global
// weak: fails
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&flag[0], 0, 1) != 0) {
    }
    __threadfence_block();
    x[0] = x[0] + 1;  // RACE
    __threadfence_block();
    atomicExch(&flag[0], 0);
  }
}

LITMUS(4, 32)
