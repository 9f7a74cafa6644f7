// A block stays until the other one of its cluster has read its shared memory.
// expect: none
// weak: never
// result: x 0 out 2016
// flags: -arch=sm_90
#include <cooperative_groups.h>

#include "../litmus.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  const cg::cluster_group cluster = cg::this_cluster();
  s[threadIdx.x] = blockIdx.x * 32 + threadIdx.x;
  cluster.sync();
  out[blockIdx.x * 32 + threadIdx.x] =
      cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[threadIdx.x];
  cluster.sync();
}

LITMUS(2, 32)
