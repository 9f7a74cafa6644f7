// After wait_group.read the source may be overwritten.
// expect: none
// weak: never
// result: x 2016 out 448
// flags: -arch=sm_90
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(16) int s[64];
  s[threadIdx.x] = threadIdx.x;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(x, s, 256);
    BULK_COMMIT();
    BULK_WAIT_READ();
  }
  __syncthreads();
  s[threadIdx.x] = 7;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 32];
  if (threadIdx.x == 0) {
    BULK_WAIT();
  }
}

LITMUS(1, 64)
