// Every writer fences before it counts itself; who waits for all of them does not fence.
// expect: race inter-block global
// missing: no fence follows
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0 && blockIdx.x > 0) {
    x[blockIdx.x] = blockIdx.x;  // RACE
    __threadfence();
    atomicAdd(&flag[0], 1);
  }
  if (THREAD(0, 0)) {
    while (atomicAdd(&flag[0], 0) != 3) {
    }
    out[0] = x[1] + x[2] + x[3];  // RACE
  }
}

LITMUS(4, 32)
