// The compiler makes one store of the two, and gives it no line.
// expect: none
// result: x 0 out 96
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  if (threadIdx.x % 2 == 0) {
    s[threadIdx.x] = 1;
  } else {
    s[threadIdx.x] = 2;
  }
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}

LITMUS(1, 64)
