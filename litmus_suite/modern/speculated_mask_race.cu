// The twin of speculated_mask: a mask of ones lets it through.
// expect: race inter-block global
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(1, 0)) {
    x[32] = 12;  // RACE
  }
  const int mask = static_cast<int>(blockIdx.x) - 1;
  int value;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(x + 32 - blockIdx.x));  // RACE
  if (threadIdx.x == 0) {
    out[blockIdx.x] = value & mask;
  }
}

LITMUS(2, 32)
