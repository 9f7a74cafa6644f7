// Two warps of a block, a flag and a fence of block scope: the reading side does not fence.
// expect: race intra-block global
// missing: no fence follows
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[0] = 42;  // RACE
    __threadfence_block();
    atomicExch_block(&flag[0], 1);
  }
  if (THREAD(0, 32)) {
    while (atomicAdd_block(&flag[0], 0) == 0) {
    }
    out[0] = x[0];  // RACE
  }
}

LITMUS(1, 64)
