// Blocks exchange data across grid.sync().
// expect: none
// weak: never
// result: x 8064 out 8064
#include <cooperative_groups.h>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
  cooperative_groups::this_grid().sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      x[((blockIdx.x + 1) % gridDim.x) * blockDim.x + threadIdx.x];
}

LITMUS_COOPERATIVE(4, 64)
