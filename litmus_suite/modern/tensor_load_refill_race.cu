// The buffer is filled again while the other warp may still read the tile before.
// expect: race intra-block shared
// variable: s[]
// weak: never
// flags: -arch=sm_90
#include "../tensor.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ MBarrier bar;
  __shared__ alignas(128) int s[64];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
    FENCE_PROXY_ASYNC();
    MBARRIER_ARRIVE_EXPECT(&bar, kTileBytes);
    TENSOR_LOAD(s, &map, 0, 0, &bar);
  }
  __syncthreads();
  MBARRIER_WAIT(&bar, 0);
  if (WARP(1)) {
    out[threadIdx.x] = s[threadIdx.x];  // RACE
  }
  if (threadIdx.x == 0) {
    MBARRIER_ARRIVE_EXPECT(&bar, kTileBytes);
    TENSOR_LOAD(s, &map, 8, 0, &bar);  // RACE
  }
  MBARRIER_WAIT(&bar, 1);
}

TENSOR_LITMUS(1, 64, kTiles)
