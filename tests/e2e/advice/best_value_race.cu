// A maximum that is tested and then stored.
// expect: race inter-block global
// missing: an atomic operation is needed
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    const int mine = blockIdx.x + 1;
    if (mine > x[0]) {  // RACE
      x[0] = mine;      // RACE
    }
  }
}

LITMUS(4, 32)
