// What all threads load, only code that some of them reach reads.
// expect: none
// weak: never
// result: x 11 out 7
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(1, 0)) {
    x[32] = 11;
  }
  int value;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(x + 32 - blockIdx.x));
  if (THREAD(1, 0)) {
    atomicAdd(&out[0], value + 7);
  }
}

LITMUS(2, 32)
