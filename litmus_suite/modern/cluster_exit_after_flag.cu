// A block exits when another one of its cluster has said that it has read its shared memory.
// expect: none
// weak: never
// result: x 0 out 496
// flags: -arch=sm_90
#include <cooperative_groups.h>

#include "../litmus.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  const cg::cluster_group cluster = cg::this_cluster();
  s[threadIdx.x] = threadIdx.x;
  cluster.sync();
  if (BLOCK(1)) {
    out[threadIdx.x] = cluster.map_shared_rank(s, 0)[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) {
      asm volatile("st.release.cluster.global.b32 [%0], 1;" ::"l"(__cvta_generic_to_global(flag))
                   : "memory");
    }
  } else if (threadIdx.x == 0) {
    for (int is_read = 0; is_read == 0;) {
      asm volatile("ld.acquire.cluster.global.b32 %0, [%1];"
                   : "=r"(is_read)
                   : "l"(__cvta_generic_to_global(flag))
                   : "memory");
    }
  }
}

LITMUS(2, 32)
