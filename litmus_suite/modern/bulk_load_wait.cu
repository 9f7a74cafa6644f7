// A bulk copy into shared memory; its mbarrier is waited for.
// expect: none
// weak: never
// result: x 2016 out 2016
// flags: -arch=sm_90
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ MBarrier bar;
  __shared__ alignas(16) int s[64];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
  }
  x[threadIdx.x] = threadIdx.x;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (threadIdx.x == 0) {
    MBARRIER_ARRIVE_EXPECT(&bar, 256);
    BULK_LOAD(s, x, 256, &bar);
  }
  MBARRIER_WAIT(&bar, 0);
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

LITMUS(1, 64)
