// All threads fence, a barrier follows, and one thread sets the flag: the fence lies in another
// basic block than the flag.
// expect: none
// weak: starves
// expect paper: race inter-block global
// result: x 64 out 64
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (BLOCK(0)) {
    x[threadIdx.x] = 1;  // RACE paper
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      *flag = 1;  // RACE paper
    }
  } else {
    if (threadIdx.x == 0) {
      while (*static_cast<volatile int*>(flag) == 0) {  // RACE paper
      }
      __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = x[threadIdx.x];  // RACE paper
  }
}

LITMUS(2, 64)
