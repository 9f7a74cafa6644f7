// In the second round the consumer asks for the first round's parity again.
// expect: race intra-block shared
// variable: s[]
// weak: fails
// flags: -arch=sm_80
#include "../litmus.h"
#include "../mbarrier.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ MBarrier full;
  __shared__ int s[64];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&full, 32);
  }
  __syncthreads();
  if (WARP(0)) {
    s[threadIdx.x] = threadIdx.x;
    MBARRIER_ARRIVE(&full);
    s[threadIdx.x + 32] = threadIdx.x;  // RACE
  } else {
    MBARRIER_WAIT(&full, 0);
    out[threadIdx.x - 32] = s[threadIdx.x - 32];
    MBARRIER_WAIT(&full, 0);
    out[threadIdx.x] = s[threadIdx.x];  // RACE
  }
}

LITMUS(1, 64)
