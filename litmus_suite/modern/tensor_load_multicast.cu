// One block of a cluster loads a tile for both; each waits at its own mbarrier.
// expect: none
// weak: never
// result: x 8386560 out 29120
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
    TENSOR_LOAD_MULTICAST(s, &map, 0, 0, &bar, 3);
  }
  MBARRIER_WAIT(&bar, 0);
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
  cluster.sync();
}

TENSOR_LITMUS(2, 64, kTiles)
