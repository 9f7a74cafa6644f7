// A block says that it has read, without a fence; the other overwrites.
// expect: race inter-block global
// missing: the read is published without a fence
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    out[0] = x[0];  // RACE
    atomicExch(&flag[0], 1);
  }
  if (THREAD(1, 0)) {
    while (atomicAdd(&flag[0], 0) == 0) {
    }
    __threadfence();
    x[0] = 7;  // RACE
  }
}

LITMUS(2, 32)
