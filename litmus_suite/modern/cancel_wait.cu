// Who asks for the work of another block has the answer when the mbarrier says so.
// expect: none
// weak: never
// result: x 0 out 64
// flags: -arch=sm_100
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ MBarrier bar;
  __shared__ alignas(16) int answer[4];
  if (threadIdx.x < 4) {
    answer[threadIdx.x] = 0;
    FENCE_PROXY_ASYNC();
  }
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
    FENCE_PROXY_ASYNC();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    MBARRIER_ARRIVE_EXPECT(&bar, 16);
    TRY_CANCEL(answer, &bar);
  }
  MBARRIER_WAIT(&bar, 0);
  unsigned canceled;
  IS_CANCELED(answer, canceled);
  out[threadIdx.x] = 1 - canceled;  // there is no other block
}

LITMUS(1, 64)
