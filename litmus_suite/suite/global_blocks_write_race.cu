// Two blocks write one word.
// expect: race inter-block global
// weak: never
// missing: store to one place by one instruction.*one thread alone should store it
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    x[0] = blockIdx.x;  // RACE
  }
}

LITMUS(2, 32)
