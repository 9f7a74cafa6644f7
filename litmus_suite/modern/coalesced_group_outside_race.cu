// A lane outside the group reads what the group wrote.
// expect: race intra-warp shared
// variable: s[]
// weak: never
// expect paper: race branch-ordering shared
#include <cooperative_groups.h>

#include "../litmus.h"

namespace cg = cooperative_groups;

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  if (threadIdx.x < 8) {
    const cg::coalesced_group group = cg::coalesced_threads();
    s[threadIdx.x] = threadIdx.x;  // RACE
    group.sync();
  } else if (threadIdx.x == 8) {
    out[0] = s[0];  // RACE
  }
}

LITMUS(1, 32)
