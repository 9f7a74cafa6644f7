// A barrier does not wait for an asynchronous store, and nothing else does.
// expect: race intra-block global
// weak: never
// expect paper: none
// flags: -arch=sm_100
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    ASYNC_STORE(x, 7);  // RACE
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    out[0] = x[0];  // RACE
  }
}

LITMUS(1, 64)
