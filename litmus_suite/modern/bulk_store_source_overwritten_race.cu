// The source is overwritten without any wait.
// expect: race intra-block shared
// variable: s[]
// weak: fails
// expect paper: none
// flags: -arch=sm_90
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(16) int s[64];
  s[threadIdx.x] = threadIdx.x;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(x, s, 256);  // RACE
    BULK_COMMIT();
  }
  __syncthreads();
  s[threadIdx.x] = 7;  // RACE
  if (threadIdx.x == 0) {
    BULK_WAIT();
  }
}

LITMUS(1, 64)
