// All threads load before an atomic says which of them need what they read, so that the hook cannot
// leave out the others: a warning.
// expect: race inter-block global
// weak: never
// missing: the compiler speculated the load
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(1, 0)) {
    x[32] = 11;  // RACE
  }
  int value;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(x + 32 - blockIdx.x));  // RACE
  const int tickets = atomicAdd(&flag[0], 1);
  const int taken = tickets >= 1000 ? value + 7 : 0;
  if (threadIdx.x == 0) {
    out[blockIdx.x] = taken;
  }
}

LITMUS(2, 32)
