// A barrier does not wait for the answer to a request for the work of another block.
// expect: race intra-block shared
// expect paper: none
// variable: answer
// weak: never
// flags: -arch=sm_100
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ MBarrier bar;
  __shared__ alignas(16) int answer[4];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
    FENCE_PROXY_ASYNC();
    MBARRIER_ARRIVE_EXPECT(&bar, 16);
    TRY_CANCEL(answer, &bar);  // RACE
  }
  __syncthreads();
  unsigned canceled;
  IS_CANCELED(answer, canceled);  // RACE
  out[threadIdx.x] = 1 - canceled;
  MBARRIER_WAIT(&bar, 0);
}

LITMUS(1, 64)
