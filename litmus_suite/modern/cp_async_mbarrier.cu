// The copies arrive at an mbarrier; whoever waits for its phase may read.
// expect: none
// weak: never
// result: x 2016 out 2016
// flags: -arch=sm_80
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ MBarrier bar;
  __shared__ int s[64];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 64);
  }
  x[threadIdx.x] = threadIdx.x;
  __syncthreads();
  CP_ASYNC(&s[threadIdx.x], &x[threadIdx.x]);
  CP_ASYNC_ARRIVE(&bar);
  MBARRIER_WAIT(&bar, 0);
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

LITMUS(1, 64)
