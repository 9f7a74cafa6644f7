// Fences of the right scope on both sides, but the flag is polled by a plain load.
// expect: race inter-block global
// missing: read by a plain load|the read .*beside the atomic
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[0] = 42;  // RACE
    __threadfence();
    atomicExch(&flag[0], 1);  // RACE
  }
  if (THREAD(1, 0)) {
    int seen = 0;
    while (seen == 0) {
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");  // RACE
    }
    __threadfence();
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)
