// A barrier does not wait for the load of a tile.
// expect: race intra-block shared
// variable: s[]
// weak: never
// expect paper: none
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
    TENSOR_LOAD(s, &map, 8, 16, &bar);  // RACE
  }
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 32];  // RACE
  MBARRIER_WAIT(&bar, 0);
}

TENSOR_LITMUS(1, 64, kTiles)
