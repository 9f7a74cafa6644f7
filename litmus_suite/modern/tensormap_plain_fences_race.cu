// The change of a map is released and acquired by ordinary fences, which tell the copies nothing.
// expect: race inter-block global
// weak: never
// expect paper: none
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#include "../tensor_map.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ MBarrier bar;
  __shared__ alignas(128) int s[64];
  if (THREAD(0, 0)) {
    changed_map = map;                            // RACE
    MAP_REPLACE_ADDRESS(&changed_map, x + 2048);  // RACE
    __threadfence();
    atomicExch(flag, 1);
  }
  if (BLOCK(1)) {
    if (threadIdx.x == 0) {
      MBARRIER_INIT(&bar, 1);
      FENCE_PROXY_ASYNC();
      while (atomicAdd(flag, 0) == 0) {
      }
      __threadfence();
      MBARRIER_ARRIVE_EXPECT(&bar, kTileBytes);
      TENSOR_LOAD(s, &changed_map, 0, 0, &bar);  // RACE
    }
    __syncthreads();
    MBARRIER_WAIT(&bar, 0);
    out[threadIdx.x] = s[threadIdx.x];
  }
}

TENSOR_LITMUS(2, 64, kTiles)
