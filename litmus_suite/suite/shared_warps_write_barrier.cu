// Two warps write one shared word, a barrier between them.
// expect: none
// weak: never
// result: x 0 out 128
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  if (threadIdx.x == 0) {
    s[0] = 1;
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    s[0] = 2;
  }
  __syncthreads();
  out[threadIdx.x] = s[0];
}

LITMUS(1, 64)
