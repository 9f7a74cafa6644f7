// A tile of eight lanes exchanges within itself.
// expect: none
// weak: never
// result: x 0 out 2016
#include <cooperative_groups.h>

#include "../litmus.h"

namespace cg = cooperative_groups;

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  s[threadIdx.x] = threadIdx.x;
  tile.sync();
  out[threadIdx.x] = s[threadIdx.x ^ 4];
}

LITMUS(1, 64)
