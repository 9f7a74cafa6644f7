// All threads of a block take the same path to one of two barriers.
// expect: none
// weak: never
// result: x 0 out 4032
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  if (flag[blockIdx.x] == 0) {
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x ^ 32];
  } else {
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = -s[threadIdx.x ^ 32];
  }
}

LITMUS(2, 64)
