// A copy is waited for; another block overwrites its source.
// expect: race inter-block global
// missing: no synchronisation between block
// flags: -arch=sm_80
#include <cuda_pipeline.h>

#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  if (blockIdx.x == 0) {
    __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], sizeof(int));  // RACE
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = s[threadIdx.x];
  } else {
    x[threadIdx.x] = 7;  // RACE
  }
}

LITMUS(2, 32)
