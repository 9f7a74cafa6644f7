// A lane reads from another tile.
// expect: race intra-warp shared
// variable: s[]
// weak: fails
// expect paper: none
#include <cooperative_groups.h>

#include "../litmus.h"

namespace cg = cooperative_groups;

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  s[threadIdx.x] = threadIdx.x;  // RACE
  tile.sync();
  out[threadIdx.x] = s[threadIdx.x ^ 8];  // RACE
}

LITMUS(1, 32)
