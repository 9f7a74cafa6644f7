// The proxy fence between ordinary stores and the bulk copy is missing.
// expect: race intra-block shared
// variable: s[]
// weak: never
// expect paper: none
// missing: fence\.proxy\.async is missing
// flags: -arch=sm_90
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ MBarrier bar;
  __shared__ alignas(16) int s[64];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
    FENCE_PROXY_ASYNC();
  }
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;  // RACE
  __syncthreads();
  if (threadIdx.x == 0) {
    MBARRIER_ARRIVE_EXPECT(&bar, 256);
    BULK_LOAD(s, x, 256, &bar);  // RACE
  }
  MBARRIER_WAIT(&bar, 0);
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

LITMUS(1, 64)
