// The threads arrive at the mbarrier and do not wait.
// expect: race intra-block shared
// variable: s[]
// weak: fails
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
  s[threadIdx.x] = threadIdx.x;  // RACE
  MBARRIER_ARRIVE(&bar);
  out[threadIdx.x] = s[threadIdx.x ^ 32];  // RACE
}

LITMUS(1, 64)
