// A mask of zero drops what the block reads that another one writes.
// expect: none
// weak: never
// result: x 12 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(1, 0)) {
    x[32] = 12;
  }
  const int mask = -static_cast<int>(blockIdx.x);
  int value;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(x + 32 - blockIdx.x));
  if (threadIdx.x == 0) {
    out[blockIdx.x] = value & mask;
  }
}

LITMUS(2, 32)
