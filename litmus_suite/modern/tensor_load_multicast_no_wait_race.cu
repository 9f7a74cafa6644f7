// The other block of the cluster does not wait for the tile that it is given.
// expect: race inter-block shared
// variable: s[]
// weak: never
// expect paper: none
// flags: -arch=sm_90
#include <cooperative_groups.h>

#include "../tensor.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1)
    tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag, int* out) {
  __shared__ MBarrier bar;
  __shared__ alignas(128) int s[64];
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
    FENCE_PROXY_ASYNC();
    MBARRIER_ARRIVE_EXPECT(&bar, kTileBytes);
  }
  cluster.sync();
  if (THREAD(0, 0)) {
    TENSOR_LOAD_MULTICAST(s, &map, 0, 0, &bar, 3);  // RACE
  }
  cluster.sync();
  if (BLOCK(1)) {
    out[threadIdx.x] = s[threadIdx.x];  // RACE
  }
  MBARRIER_WAIT(&bar, 0);
  cluster.sync();
}

TENSOR_LITMUS(2, 64, kTiles)
