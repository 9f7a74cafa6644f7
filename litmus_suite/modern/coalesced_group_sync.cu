// The lanes that took a branch form a group and wait for each other.
// expect: none
// weak: never
// result: x 0 out 28
#include <cooperative_groups.h>

#include "../litmus.h"

namespace cg = cooperative_groups;

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  if (threadIdx.x < 8) {
    const cg::coalesced_group group = cg::coalesced_threads();
    s[threadIdx.x] = threadIdx.x;
    group.sync();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
  }
}

LITMUS(1, 32)
