// The twin of flag_behind_barrier: there is no fence, and a barrier is none for another block.
// expect: race inter-block global
// weak: fails
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (BLOCK(0)) {
    x[threadIdx.x] = 1;  // RACE
    __syncthreads();
    if (threadIdx.x == 0) {
      *flag = 1;  // RACE
    }
  } else {
    if (threadIdx.x == 0) {
      while (*static_cast<volatile int*>(flag) == 0) {  // RACE
      }
      __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = x[threadIdx.x];  // RACE
  }
}

LITMUS(2, 64)
