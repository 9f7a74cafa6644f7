// Atomics find what the thread stored before them, and what its block stored before the barrier.
// expect: none
// weak: never
// result: x 8448 out 128
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  x[thread] = thread;
  const int own = atomicAdd(&x[thread], 1);
  if (threadIdx.x == 0) {
    x[kCells / 2 + blockIdx.x] = 32;
  }
  __syncthreads();
  const int of_block = atomicAdd(&x[kCells / 2 + blockIdx.x], 1);
  out[thread] = own == thread && of_block >= 32 && of_block < 32 + static_cast<int>(blockDim.x);
}

LITMUS(2, 64)
