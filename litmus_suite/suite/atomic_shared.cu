// Atomics on shared memory, read after the barrier.
// expect: none
// weak: never
// result: x 0 out 4096
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) {
    count = 0;
  }
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  out[threadIdx.x] = count;
}

LITMUS(1, 64)
