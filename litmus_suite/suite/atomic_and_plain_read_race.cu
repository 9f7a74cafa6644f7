// An atomic of one block, a plain load of another.
// expect: race inter-block global
// weak: never
// missing: the read .*beside the atomic
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    atomicAdd(&x[0], 1);  // RACE
  }
  if (THREAD(1, 0)) {
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)
