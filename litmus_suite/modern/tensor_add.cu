// Blocks add to one tile: each addition is atomic.
// expect: none
// weak: never
// result: x 8386816 out 0
// flags: -arch=sm_90
#include "../tensor.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ alignas(128) int s[64];
  s[threadIdx.x] = 1;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_ADD(&map, 8, 8, s);
    BULK_COMMIT();
    BULK_WAIT();
  }
}

TENSOR_LITMUS(4, 64, kTiles)
