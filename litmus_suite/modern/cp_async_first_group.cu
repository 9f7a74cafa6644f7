// Of two groups the first is waited for, and read.
// expect: none
// weak: never
// result: x 0 out 0
// flags: -arch=sm_80
#include <cuda_pipeline.h>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_memcpy_async(&s[threadIdx.x + 32], &x[threadIdx.x + 32], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(1);
  out[threadIdx.x] = s[threadIdx.x];
  __pipeline_wait_prior(0);
  out[threadIdx.x + 32] = s[threadIdx.x + 32];
}

LITMUS(1, 32)
