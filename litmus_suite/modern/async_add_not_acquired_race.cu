// The sum of asynchronous reductions is polled by a relaxed load, which acquires nothing.
// expect: race inter-block global
// weak: never
// flags: -arch=sm_100
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x != 0) {
    return;
  }
  if (blockIdx.x < 4) {
    x[blockIdx.x] = blockIdx.x;  // RACE
    ASYNC_ADD(flag, 1);
  } else {
    for (int count = 0; count != 4;) {
      asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];"
                   : "=r"(count)
                   : "l"(__cvta_generic_to_global(flag))
                   : "memory");
    }
    out[0] = x[0] + x[1] + x[2] + x[3];  // RACE
  }
}

LITMUS(5, 32)
