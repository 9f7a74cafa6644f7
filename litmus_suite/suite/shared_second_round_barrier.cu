// A barrier before and after every round of writing.
// expect: none
// weak: never
// result: x 0 out 4096
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  for (int round = 0; round < 2; ++round) {
    s[threadIdx.x] = round + threadIdx.x;
    __syncthreads();
    out[threadIdx.x] += s[threadIdx.x ^ 32];
    __syncthreads();
  }
}

LITMUS(1, 64)
