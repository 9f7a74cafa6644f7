// A block reads what another block writes.
// expect: race inter-block global
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[0] = 5;  // RACE
  }
  if (THREAD(1, 0)) {
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)
