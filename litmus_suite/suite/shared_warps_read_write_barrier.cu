// A warp reads shared memory that another wrote before the barrier.
// expect: none
// weak: never
// result: x 0 out 2016
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

LITMUS(1, 64)
