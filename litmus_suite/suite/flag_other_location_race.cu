// The reader polls one flag, the data is published by another.
// expect: race inter-block global
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    atomicExch(&flag[1], 1);
    x[0] = 42;  // RACE
    __threadfence();
    atomicExch(&flag[0], 1);
  }
  if (THREAD(1, 0)) {
    while (atomicAdd(&flag[1], 0) == 0) {
    }
    __threadfence();
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)
