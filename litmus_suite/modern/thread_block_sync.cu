// The group of the whole block waits as __syncthreads() does.
// expect: none
// weak: never
// result: x 0 out 2016
#include <cooperative_groups.h>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  cooperative_groups::this_thread_block().sync();
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

LITMUS(1, 64)
