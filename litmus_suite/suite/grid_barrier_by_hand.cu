// A grid barrier of atomics and fences.
// expect: none
// weak: never
// result: x 8064 out 8064
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&flag[0], 1);
    while (atomicAdd(&flag[0], 0) < static_cast<int>(gridDim.x)) {
    }
    __threadfence();
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      x[((blockIdx.x + 1) % gridDim.x) * blockDim.x + threadIdx.x];
}

LITMUS_COOPERATIVE(4, 64)
