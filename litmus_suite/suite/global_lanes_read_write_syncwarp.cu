// A lane reads the word its neighbour wrote before __syncwarp().
// expect: none
// weak: never
// result: x 496 out 496
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  x[threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = x[threadIdx.x ^ 1];
}

LITMUS(1, 32)
