// The wait acquires at block scope, and the arrival comes from another block.
// expect: race inter-block global
// expect paper: none
// weak: never
// missing: the wait at .*:26 has block scope .*cluster scope .* is needed for both
// flags: -arch=sm_90
#include <cooperative_groups.h>

#include "../litmus.h"
#include "../mbarrier.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) litmus(int* x, int* flag, int* out) {
  __shared__ MBarrier bar;
  const cg::cluster_group cluster = cg::this_cluster();
  if (THREAD(0, 0)) {
    MBARRIER_INIT(&bar, 1);
  }
  cluster.sync();
  if (THREAD(1, 0)) {
    x[0] = 42;  // RACE
    MBARRIER_ARRIVE_REMOTE(&bar, 0);
  }
  if (BLOCK(0)) {
    MBARRIER_WAIT_CTA(&bar, 0);
    out[threadIdx.x] = x[0];  // RACE
  }
  cluster.sync();
}

LITMUS(2, 32)
