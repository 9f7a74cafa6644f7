// An asynchronous copy, its wait, and a barrier for the other threads.
// expect: none
// weak: never
// result: x 2016 out 2016
// flags: -arch=sm_80
#include <cuda_pipeline.h>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  x[threadIdx.x] = threadIdx.x;
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

LITMUS(1, 64)
