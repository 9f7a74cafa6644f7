// Behind a barrier all know the address that one warp was given.
// expect: none
// weak: never
// result: x 0 out 64
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
#include "../litmus.h"
#include "../tensor_core.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ unsigned columns;
  if (threadIdx.x < 32) {
    TENSOR_ALLOC(&columns, 32);
  }
  __syncthreads();
  const unsigned address = columns;
  __syncthreads();
  if (threadIdx.x < 32) {
    TENSOR_FREE(columns, 32);
  }
  out[threadIdx.x] = address < 512 ? 1 : 0;
}

LITMUS(1, 64)
