// An asynchronous store releases what its thread did before; who acquires its value sees both.
// expect: none
// expect paper: race inter-block global
// weak: never
// result: x 40 out 40
// flags: -arch=sm_100
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (BLOCK(0)) {
    x[threadIdx.x] = threadIdx.x == 0 ? 40 : 0;  // RACE paper
    __syncthreads();
    if (threadIdx.x == 0) {
      ASYNC_STORE(flag, 1);
    }
  } else if (threadIdx.x == 0) {
    for (int seen = 0; seen == 0;) {
      LOAD_ACQUIRE(seen, flag);
    }
    out[0] = x[0];  // RACE paper
  }
}

LITMUS(2, 32)
