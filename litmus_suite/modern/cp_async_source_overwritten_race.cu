// The source is overwritten while the copy may still read it.
// expect: race intra-warp global
// weak: fails
// expect paper: none
// flags: -arch=sm_80
#include <cuda_pipeline.h>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], sizeof(int));  // RACE
  __pipeline_commit();
  x[threadIdx.x] = 7;  // RACE
  __pipeline_wait_prior(0);
  out[threadIdx.x] = s[threadIdx.x];
}

LITMUS(1, 32)
