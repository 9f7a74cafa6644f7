// A relaxed atomic counter without fences orders nothing around it.
// expect: race inter-block global
// weak: fails
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[0] = 1;  // RACE
    atomicExch(&flag[0], 1);
  }
  if (THREAD(1, 0)) {
    while (atomicAdd(&flag[0], 0) == 0) {
    }
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)
