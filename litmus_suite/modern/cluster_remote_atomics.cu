// Both blocks count in the first block's shared memory with atomics.
// expect: none
// weak: never
// result: x 0 out 64
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
  atomicAdd(cluster.map_shared_rank(&count, 0), 1);
  cluster.sync();
  if (THREAD(0, 0)) {
    out[0] = count;
  }
}

LITMUS(2, 32)
