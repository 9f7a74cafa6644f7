// One thread puts zeros into half of an array, all read it after a barrier.
// expect: none
// weak: never
// result: x 0 out 1520
// flags: -arch=sm_100
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(16) int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_ZERO(s, 32 * sizeof(int));
  }
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}

LITMUS(1, 64)
