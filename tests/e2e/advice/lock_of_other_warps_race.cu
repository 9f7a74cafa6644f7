// Two warps take a lock; the third writes without it, and no fence of the others would help.
// expect: race intra-block global
// missing: __syncthreads\(\) is missing
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (LANE(0) && threadIdx.x >= 32) {
    while (atomicCAS(&flag[0], 0, 1) != 0) {
    }
    __threadfence_block();
    x[0] = x[0] + 1;  // RACE
    __threadfence_block();
    atomicExch(&flag[0], 0);
  }
  if (THREAD(0, 0)) {
    x[0] = 100;  // RACE
  }
}

LITMUS(1, 96)
