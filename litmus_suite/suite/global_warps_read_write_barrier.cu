// A warp reads what another warp of its block wrote before the barrier.
// expect: none
// weak: never
// result: x 2016 out 2016
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  x[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = x[threadIdx.x ^ 32];
}

LITMUS(1, 64)
