// Every thread waits for its own copy, and reads that of another.
// expect: race intra-block shared
// variable: s[]
// weak: never
// flags: -arch=sm_80
#include <cuda_pipeline.h>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], sizeof(int));  // RACE
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = s[threadIdx.x ^ 32];  // RACE
}

LITMUS(1, 64)
