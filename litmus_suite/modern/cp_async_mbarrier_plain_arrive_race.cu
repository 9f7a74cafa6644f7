// The threads arrive, their copies do not.
// expect: race intra-block shared
// variable: s[]
// weak: never
// expect paper: none
// flags: -arch=sm_80
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ MBarrier bar;
  __shared__ int s[64];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 64);
  }
  __syncthreads();
  CP_ASYNC(&s[threadIdx.x], &x[threadIdx.x]);  // RACE
  MBARRIER_ARRIVE(&bar);
  MBARRIER_WAIT(&bar, 0);
  out[threadIdx.x] = s[threadIdx.x ^ 32];  // RACE
}

LITMUS(1, 64)
