// wait_group.read says nothing about the destination.
// expect: race intra-block global
// weak: never
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
    BULK_WAIT_READ();
  }
  __syncthreads();
  out[threadIdx.x] = x[threadIdx.x ^ 32];  // RACE
  if (threadIdx.x == 0) {
    BULK_WAIT();
  }
}

LITMUS(1, 64)
