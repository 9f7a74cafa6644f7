// A block reads the tile to which another adds.
// expect: race inter-block global
// weak: never
// flags: -arch=sm_90
#include "../tensor.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ alignas(128) int s[64];
  if (BLOCK(1)) {
    out[threadIdx.x] = x[(8 + threadIdx.x / 8) * 64 + 8 + threadIdx.x % 8];  // RACE
    return;
  }
  s[threadIdx.x] = 1;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_ADD(&map, 8, 8, s);  // RACE
    BULK_COMMIT();
    BULK_WAIT();
  }
}

TENSOR_LITMUS(2, 64, kTiles)
