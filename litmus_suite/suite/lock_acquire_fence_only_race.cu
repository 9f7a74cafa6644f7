// The unlock is not fenced.
// expect: race inter-block global
// weak: fails
// missing: published without a fence
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&flag[0], 0, 1) != 0) {
    }
    __threadfence();
    x[0] = x[0] + 1;  // RACE
    atomicExch(&flag[0], 0);
  }
}

LITMUS(4, 32)
