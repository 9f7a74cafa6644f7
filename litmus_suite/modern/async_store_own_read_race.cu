// The thread itself does not know when its asynchronous store is over.
// expect: race intra-warp global
// weak: never
// expect paper: none
// flags: -arch=sm_100
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    ASYNC_STORE(x, 7);  // RACE
    out[0] = x[0];      // RACE
  }
}

LITMUS(1, 32)
