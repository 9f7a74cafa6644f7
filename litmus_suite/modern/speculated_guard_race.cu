// The twin of speculated_guard: who reaches that code has read what the other block writes.
// expect: race inter-block global
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(1, 0)) {
    x[32] = 11;  // RACE
  }
  int value;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(x + 32 - blockIdx.x));  // RACE
  if (THREAD(0, 0)) {
    atomicAdd(&out[0], value + 7);
  }
}

LITMUS(2, 32)
