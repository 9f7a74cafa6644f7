// A thread reads what it copied itself, without waiting.
// expect: race intra-warp shared
// variable: s[]
// weak: never
// expect paper: none
// missing: not waited for
// flags: -arch=sm_80
#include <cuda_pipeline.h>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], sizeof(int));  // RACE
  __pipeline_commit();
  out[threadIdx.x] = s[threadIdx.x];  // RACE
}

LITMUS(1, 64)
