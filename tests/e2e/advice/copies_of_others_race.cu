// Each thread waits for the copies that it has begun itself, and reads its neighbour's.
// flags: -arch=sm_80
// expect: race intra-block shared
// missing: __syncthreads\(\) is missing between the wait for the asynchronous copy
#include <cuda_pipeline.h>

#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof(int));  // RACE
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[threadIdx.x ^ 32];  // RACE
}

LITMUS(1, 64)
