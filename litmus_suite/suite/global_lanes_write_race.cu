// Lanes of one store write different values to one word.
// expect: race intra-warp global
// weak: fails
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  x[0] = threadIdx.x;  // RACE
}

LITMUS(1, 32)
