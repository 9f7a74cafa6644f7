// The twin of flag_in_functions: data comes between the fence and the function that sets the flag.
// expect: race inter-block global
// weak: fails
#include "../litmus.h"

__device__ __noinline__ void set(int* flag) {
  *flag = 1;  // RACE
}

__device__ __noinline__ void wait_for(volatile int* flag) {
  while (*flag == 0) {  // RACE
  }
}

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    __threadfence();
    x[0] = 42;  // RACE
    set(flag);
  }
  if (THREAD(1, 0)) {
    wait_for(flag);
    __threadfence();
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)
