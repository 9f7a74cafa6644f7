// A warp reads what another warp of its block writes.
// expect: race intra-block global
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  x[threadIdx.x] = threadIdx.x;  // RACE
  __syncwarp();
  out[threadIdx.x] = x[threadIdx.x ^ 32];  // RACE
}

LITMUS(1, 64)
