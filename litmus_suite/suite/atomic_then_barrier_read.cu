// Atomics of a block, read after its barrier.
// expect: none
// weak: never
// result: x 128 out 8192
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  atomicAdd(&x[blockIdx.x], 1);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x];
}

LITMUS(2, 64)
