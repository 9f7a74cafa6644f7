// The flag is set and polled in functions that are not inlined; the fences are their callers'.
// expect: none
// weak: starves
// expect paper: race inter-block global
// result: x 42 out 42
#include "../litmus.h"

__device__ __noinline__ void set(int* flag) {
  *flag = 1;  // RACE paper
}

__device__ __noinline__ void wait_for(volatile int* flag) {
  while (*flag == 0) {  // RACE paper
  }
}

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[0] = 42;  // RACE paper
    __threadfence();
    set(flag);
  }
  if (THREAD(1, 0)) {
    wait_for(flag);
    __threadfence();
    out[0] = x[0];  // RACE paper
  }
}

LITMUS(2, 32)
