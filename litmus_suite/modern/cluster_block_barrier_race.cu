// Blocks of a cluster read each other's shared memory across a barrier of the block.
// expect: race inter-block shared
// variable: s[]
// weak: fails
// flags: -arch=sm_90
#include <cooperative_groups.h>

#include "../litmus.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  const cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  s[threadIdx.x] = blockIdx.x * 32 + threadIdx.x;  // RACE
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] =
      cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[threadIdx.x];  // RACE
  cluster.sync();
}

LITMUS(2, 32)
