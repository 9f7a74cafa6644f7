// The place of the answer has been written in the ordinary way, and no proxy fence stands between.
// expect: race intra-block shared
// expect paper: none
// variable: answer[]
// missing: fence\.proxy\.async is missing
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
  }
  __syncthreads();
  if (threadIdx.x >= 60) {
    answer[threadIdx.x - 60] = 0;  // RACE
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    MBARRIER_ARRIVE_EXPECT(&bar, 16);
    TRY_CANCEL(answer, &bar);  // RACE
  }
  MBARRIER_WAIT(&bar, 0);
  unsigned canceled;
  IS_CANCELED(answer, canceled);
  out[threadIdx.x] = 1 - canceled;
}

LITMUS(1, 64)
