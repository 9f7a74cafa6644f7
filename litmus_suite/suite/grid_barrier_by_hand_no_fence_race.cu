// A grid barrier of atomics without fences.
// expect: race inter-block global
// weak: fails
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;  // RACE
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&flag[0], 1);
    while (atomicAdd(&flag[0], 0) < static_cast<int>(gridDim.x)) {
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      x[((blockIdx.x + 1) % gridDim.x) * blockDim.x + threadIdx.x];  // RACE
}

LITMUS_COOPERATIVE(4, 64)
