// __syncthreads_count() is a barrier, too.
// expect: none
// weak: never
// result: x 0 out 4064
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  const int even = __syncthreads_count(threadIdx.x % 2 == 0);
  out[threadIdx.x] = s[threadIdx.x ^ 32] + even;
}

LITMUS(1, 64)
