// The change of a map is released to the copies, and who copies by it does not acquire it.
// expect: race intra-warp global
// weak: never
// expect paper: none
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#include "../tensor_map.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ MBarrier bar;
  __shared__ alignas(128) int s[64];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
    FENCE_PROXY_ASYNC();
    changed_map = map;                            // RACE
    MAP_REPLACE_ADDRESS(&changed_map, x + 2048);  // RACE
    MAP_FENCE_RELEASE();
    MBARRIER_ARRIVE_EXPECT(&bar, kTileBytes);
    TENSOR_LOAD(s, &changed_map, 0, 0, &bar);  // RACE
  }
  __syncthreads();
  MBARRIER_WAIT(&bar, 0);
  out[threadIdx.x] = s[threadIdx.x];
}

TENSOR_LITMUS(1, 64, kTiles)
