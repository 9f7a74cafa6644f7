// All lanes of a warp store one tile: the same bytes, as lanes that store one value.
// expect: none
// weak: never
// result: x 8340736 out 2016
// flags: -arch=sm_90
#include "../tensor.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ alignas(128) int s[64];
  s[threadIdx.x] = threadIdx.x;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (WARP(0)) {
    TENSOR_STORE(&map, 8, 8, s);
    BULK_COMMIT();
    BULK_WAIT();
  }
  __syncthreads();
  out[threadIdx.x] = x[(8 + threadIdx.x / 8) * 64 + 8 + threadIdx.x % 8];
}

TENSOR_LITMUS(1, 64, kTiles)
