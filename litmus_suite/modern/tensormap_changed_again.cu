// A map is changed again once the copy by it is made.
// expect: none
// weak: never
// result: x 8386560 out 291264
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#include "../tensor_map.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ MBarrier bar;
  __shared__ alignas(128) int s[128];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
    FENCE_PROXY_ASYNC();
    changed_map = map;
    MAP_REPLACE_ADDRESS(&changed_map, x + 2048);
    MAP_FENCE_RELEASE();
    MAP_FENCE_ACQUIRE(&changed_map);
    MBARRIER_ARRIVE_EXPECT(&bar, kTileBytes);
    TENSOR_LOAD(s, &changed_map, 0, 0, &bar);
    MBARRIER_WAIT(&bar, 0);
    MAP_REPLACE_ADDRESS(&changed_map, x + 2048);
    MAP_FENCE_RELEASE();
    MAP_FENCE_ACQUIRE(&changed_map);
    MBARRIER_ARRIVE_EXPECT(&bar, kTileBytes);
    TENSOR_LOAD(s + 64, &changed_map, 0, 0, &bar);
    MBARRIER_WAIT(&bar, 1);
  }
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
  out[threadIdx.x + 64] = s[threadIdx.x + 64];
}

TENSOR_LITMUS(1, 64, kTiles)
