// Two warps of a block write one word, a barrier between them.
// expect: none
// weak: never
// result: x 2 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    x[0] = 1;
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    x[0] = 2;
  }
}

LITMUS(1, 64)
