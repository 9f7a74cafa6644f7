// Every thread arrives at an mbarrier and waits for its phase.
// expect: none
// weak: never
// result: x 0 out 2016
// flags: -arch=sm_80
#include "../litmus.h"
#include "../mbarrier.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ MBarrier bar;
  __shared__ int s[64];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 64);
  }
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;
  MBARRIER_ARRIVE(&bar);
  MBARRIER_WAIT(&bar, 0);
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

LITMUS(1, 64)
