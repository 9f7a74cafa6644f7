// Two warps of a block write one word.
// expect: race intra-block global
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (LANE(0)) {
    x[0] = threadIdx.x;  // RACE
  }
}

LITMUS(1, 64)
