// Every block has a shared memory of its own, fresh when the block starts.
// expect: none
// weak: never
// result: x 0 out 72192
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = blockIdx.x;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x ^ 32];
}

LITMUS(48, 64)
