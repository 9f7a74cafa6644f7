// st.release and ld.acquire of cluster scope between the blocks of a cluster.
// expect: none
// weak: never
// result: x 42 out 42
// flags: -arch=sm_90
#include "../litmus.h"

__global__ void __cluster_dims__(2, 1, 1) litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[0] = 42;
    asm volatile("st.release.cluster.global.s32 [%0], 1;" ::"l"(__cvta_generic_to_global(flag))
                 : "memory");
  }
  if (THREAD(1, 0)) {
    for (int seen = 0; seen == 0;) {
      asm volatile("ld.acquire.cluster.global.s32 %0, [%1];"
                   : "=r"(seen)
                   : "l"(__cvta_generic_to_global(flag))
                   : "memory");
    }
    out[0] = x[0];
  }
}

LITMUS(2, 32)
