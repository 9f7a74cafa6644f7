// A buffer with an mbarrier for full and one for empty: phases are used again.
// expect: none
// weak: never
// result: x 0 out 8128
// flags: -arch=sm_90
#include "../litmus.h"
#include "../mbarrier.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ MBarrier full;
  __shared__ MBarrier empty;
  __shared__ int s[32];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&full, 32);
    MBARRIER_INIT(&empty, 32);
  }
  __syncthreads();
  for (int round = 0; round < 4; ++round) {
    const unsigned parity = round % 2;
    unsigned done = 0;
    if (WARP(0)) {
      while (round > 0 && done == 0) {
        MBARRIER_TRY(&empty, 1 - parity, done);
      }
      s[threadIdx.x] = round * 32 + threadIdx.x;
      MBARRIER_ARRIVE(&full);
    } else {
      while (done == 0) {
        MBARRIER_TRY(&full, parity, done);
      }
      out[round * 32 + threadIdx.x - 32] = s[63 - threadIdx.x];
      MBARRIER_ARRIVE(&empty);
    }
  }
}

LITMUS(1, 64)
