// A bulk copy from shared to global memory: proxy fence before, wait after.
// expect: none
// weak: never
// result: x 2016 out 2016
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
    BULK_WAIT();
  }
  __syncthreads();
  out[threadIdx.x] = x[threadIdx.x ^ 32];
}

LITMUS(1, 64)
