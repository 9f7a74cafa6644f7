// The twin of speculated_select: the block that takes what it reads reads what the other writes.
// expect: race inter-block global
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(1, 0)) {
    x[32] = 11;  // RACE
  }
  int value;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(x + 32 - blockIdx.x));  // RACE
  const int taken = blockIdx.x == 0 ? value + 7 : 0;
  if (threadIdx.x == 0) {
    out[blockIdx.x] = taken;
  }
}

LITMUS(2, 32)
