// cp.async.wait_all needs no group.
// expect: none
// weak: never
// result: x 496 out 496
// flags: -arch=sm_80
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(16) int s[128];
  x[4 * threadIdx.x] = threadIdx.x;
  CP_ASYNC_16(&s[4 * threadIdx.x], &x[4 * threadIdx.x]);
  CP_ASYNC_WAIT_ALL();
  __syncwarp();
  out[threadIdx.x] = s[4 * (threadIdx.x ^ 1)];
}

LITMUS(1, 32)
