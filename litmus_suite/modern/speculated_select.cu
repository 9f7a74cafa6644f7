// All threads load, a select drops what those read that another one writes beside them.
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
  const int taken = blockIdx.x == 1 ? value + 7 : 0;
  if (threadIdx.x == 0) {
    out[blockIdx.x] = taken;
  }
}

LITMUS(2, 32)
