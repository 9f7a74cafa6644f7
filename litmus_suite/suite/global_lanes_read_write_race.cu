// A lane reads the word its neighbour writes.
// expect: race intra-warp global
// weak: fails
// expect paper: none
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  x[threadIdx.x] = threadIdx.x;           // RACE
  out[threadIdx.x] = x[threadIdx.x ^ 1];  // RACE
}

LITMUS(1, 32)
