// Atomics of block scope on another block's shared memory.
// expect: race inter-block shared
// variable: count
// weak: never
// expect paper: none
// flags: -arch=sm_90
#include <cooperative_groups.h>

#include "../litmus.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) litmus(int* x, int* flag, int* out) {
  __shared__ int count;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    count = 0;
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    atomicAdd_block(cluster.map_shared_rank(&count, 0), 1);  // RACE
  }
  cluster.sync();
}

LITMUS(2, 32)
