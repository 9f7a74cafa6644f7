// A path reads what the other writes.
// expect: race intra-warp global
// weak: fails
// expect paper: race branch-ordering global
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x < 16) {
    x[threadIdx.x] = threadIdx.x;  // RACE
  } else {
    out[threadIdx.x] = x[threadIdx.x - 16];  // RACE
  }
}

LITMUS(1, 32)
