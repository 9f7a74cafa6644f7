// A flag set and polled with atomics, with a fence on both sides.
// expect: none
// weak: never
// result: x 42 out 42
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[0] = 42;
    __threadfence();
    atomicExch(&flag[0], 1);
  }
  if (THREAD(1, 0)) {
    while (atomicAdd(&flag[0], 0) == 0) {
    }
    __threadfence();
    out[0] = x[0];
  }
}

LITMUS(2, 32)
