// A function that is not inlined returns the flag, and its caller polls it.
// expect: none
// weak: starves
// expect paper: race inter-block global
// result: x 42 out 42
#include "../litmus.h"

__device__ __noinline__ int get(volatile int* flag) {
  return *flag;
}

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[0] = 42;  // RACE paper
    __threadfence();
    *flag = 1;
  }
  if (THREAD(1, 0)) {
    while (get(flag) == 0) {
    }
    __threadfence();
    out[0] = x[0];  // RACE paper
  }
}

LITMUS(2, 32)
