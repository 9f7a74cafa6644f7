// wait_group.read says nothing about the tile in global memory.
// expect: race intra-block global
// weak: never
// expect paper: none
// flags: -arch=sm_90
#include "../tensor.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ alignas(128) int s[64];
  s[threadIdx.x] = threadIdx.x;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_STORE(&map, 8, 8, s);  // RACE
    BULK_COMMIT();
    BULK_WAIT_READ();
  }
  __syncthreads();
  out[threadIdx.x] = x[(8 + threadIdx.x / 8) * 64 + 8 + threadIdx.x % 8];  // RACE
  if (threadIdx.x == 0) {
    BULK_WAIT();
  }
}

TENSOR_LITMUS(1, 64, kTiles)
