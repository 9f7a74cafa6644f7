// Who finds the lock taken goes on without it.
// expect: race inter-block global
// missing: the compare-and-swap .*must wait
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    const bool is_mine = atomicCAS(&flag[0], 0, 1) == 0;
    __threadfence();
    x[0] = is_mine ? 1 : 2 + blockIdx.x;  // RACE
  }
}

LITMUS(2, 32)
