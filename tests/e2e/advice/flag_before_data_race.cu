// The flag is set, fenced, before the data is there.
// expect: race inter-block global
// missing: comes after the release
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[1] = 1;
    __threadfence();
    atomicExch(&flag[0], 1);
    x[0] = 42;  // RACE
  }
  if (THREAD(1, 0)) {
    while (atomicAdd(&flag[0], 0) == 0) {
    }
    __threadfence();
    out[0] = x[0] + x[1];  // RACE
  }
}

LITMUS(2, 32)
