// Asynchronous reductions count what is done; who acquires the sum knows all of it.
// expect: none
// expect paper: race inter-block global
// weak: never
// result: x 6 out 6
// flags: -arch=sm_100
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x != 0) {
    return;
  }
  if (blockIdx.x < 4) {
    x[blockIdx.x] = blockIdx.x;  // RACE paper
    ASYNC_ADD(flag, 1);
  } else {
    for (int count = 0; count != 4;) {
      LOAD_ACQUIRE(count, flag);
    }
    out[0] = x[0] + x[1] + x[2] + x[3];  // RACE paper
  }
}

LITMUS(5, 32)
