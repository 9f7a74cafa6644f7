// The lanes of a warp store two tiles to one place.
// expect: race intra-warp global
// weak: never
// expect paper: none
// flags: -arch=sm_90
#include "../tensor.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ alignas(128) int s[128];
  s[threadIdx.x] = threadIdx.x;
  s[threadIdx.x + 64] = threadIdx.x;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (WARP(0)) {
    TENSOR_STORE(&map, 8, 8, s + threadIdx.x % 2 * 64);  // RACE
    BULK_COMMIT();
    BULK_WAIT();
  }
}

TENSOR_LITMUS(1, 64, kTiles)
