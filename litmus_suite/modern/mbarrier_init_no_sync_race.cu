// A relaxed flag says that the mbarrier is initialised: that orders nothing.
// expect: race intra-block shared
// variable: bar
// weak: never
// expect paper: none
// flags: -arch=sm_80
#include "../litmus.h"
#include "../mbarrier.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ MBarrier bar;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 2);  // RACE
    atomicExch(&flag[0], 1);
  }
  if (threadIdx.x == 32) {
    while (atomicAdd(&flag[0], 0) == 0) {
    }
    MBARRIER_ARRIVE(&bar);  // RACE
  }
}

LITMUS(1, 64)
