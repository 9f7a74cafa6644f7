// Two blocks of a cluster write one word of shared memory.
// expect: race inter-block shared
// variable: s
// weak: never
// flags: -arch=sm_90
#include <cooperative_groups.h>

#include "../litmus.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  const cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  if (threadIdx.x == 0) {
    cluster.map_shared_rank(s, 0)[0] = blockIdx.x + 1;  // RACE
  }
  cluster.sync();
  if (THREAD(0, 0)) {
    out[0] = s[0];
  }
}

LITMUS(2, 32)
