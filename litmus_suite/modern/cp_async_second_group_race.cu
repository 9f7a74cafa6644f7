// Of two groups the first is waited for, and the second is read.
// expect: race intra-warp shared
// variable: s[]
// weak: never
// expect paper: none
// flags: -arch=sm_80
#include <cuda_pipeline.h>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_memcpy_async(&s[threadIdx.x + 32], &x[threadIdx.x + 32], sizeof(int));  // RACE
  __pipeline_commit();
  __pipeline_wait_prior(1);
  out[threadIdx.x] = s[threadIdx.x + 32];  // RACE
}

LITMUS(1, 32)
