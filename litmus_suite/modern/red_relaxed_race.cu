// The arrivals are counted with a relaxed red.
// expect: race inter-block global
// weak: fails
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0 && blockIdx.x > 0) {
    x[blockIdx.x] = blockIdx.x;  // RACE
    asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(__cvta_generic_to_global(flag))
                 : "memory");
  }
  if (THREAD(0, 0)) {
    int seen = 0;
    while (seen != 3) {
      asm volatile("ld.acquire.gpu.global.s32 %0, [%1];"
                   : "=r"(seen)
                   : "l"(__cvta_generic_to_global(flag))
                   : "memory");
    }
    out[0] = x[1] + x[2] + x[3];  // RACE
  }
}

LITMUS(4, 32)
