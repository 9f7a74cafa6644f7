// Blocks exchange data across a barrier of the block.
// expect: race inter-block global
// weak: fails
#include <cooperative_groups.h>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;  // RACE
  cooperative_groups::this_thread_block().sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      x[((blockIdx.x + 1) % gridDim.x) * blockDim.x + threadIdx.x];  // RACE
}

LITMUS_COOPERATIVE(4, 64)
