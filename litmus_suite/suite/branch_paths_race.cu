// Both paths of a branch write one word.
// expect: race intra-warp global
// weak: never
// expect paper: race branch-ordering global
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x < 16) {
    if (threadIdx.x == 0) {
      x[0] = 1;  // RACE
    }
  } else {
    if (threadIdx.x == 16) {
      x[0] = 2;  // RACE
    }
  }
}

LITMUS(1, 32)
