// The twin of flag_returned: who polls does not fence before it reads.
// expect: race inter-block global
// weak: starves
#include "../litmus.h"

__device__ __noinline__ int get(volatile int* flag) {
  return *flag;  // RACE
}

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[0] = 42;  // RACE
    __threadfence();
    *flag = 1;  // RACE
  }
  if (THREAD(1, 0)) {
    while (get(flag) == 0) {
    }
    out[0] = x[0];  // RACE
    __threadfence();
  }
}

LITMUS(2, 32)
