// Each thread waits for the copies that it has begun itself, and reads its neighbour's.
// expect: race intra-block shared
// missing: the wait at \S+:\d+ is for each thread's own copies: __syncthreads\(\) is missing
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
