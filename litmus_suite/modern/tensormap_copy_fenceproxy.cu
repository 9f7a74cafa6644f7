// A map is changed in shared memory, and copied to where the loads by it find it.
// expect: none
// weak: never
// result: x 8386560 out 145632
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#include "../tensor_map.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ MBarrier bar;
  __shared__ alignas(128) int s[64];
  __shared__ alignas(128) CUtensorMap changing;
  if (WARP(0)) {
    COPY_MAP_BY_WARP(&changing, &map);
    __syncwarp();
    if (threadIdx.x == 0) {
      MBARRIER_INIT(&bar, 1);
      FENCE_PROXY_ASYNC();
      MAP_REPLACE_ADDRESS_SHARED(&changing, x + 2048);
    }
    __syncwarp();
    MAP_COPY_FENCEPROXY(&changed_map, &changing);
    MAP_FENCE_ACQUIRE(&changed_map);
    if (threadIdx.x == 0) {
      MBARRIER_ARRIVE_EXPECT(&bar, kTileBytes);
      TENSOR_LOAD(s, &changed_map, 0, 0, &bar);
    }
  }
  __syncthreads();
  MBARRIER_WAIT(&bar, 0);
  out[threadIdx.x] = s[threadIdx.x];
}

TENSOR_LITMUS(1, 64, kTiles)
