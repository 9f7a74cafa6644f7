// A lane reads the shared word its neighbour wrote before __syncwarp().
// expect: none
// weak: never
// result: x 0 out 496
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}

LITMUS(1, 32)
