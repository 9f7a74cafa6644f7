// Another warp may read the address before it was given.
// expect: race intra-block shared
// variable: columns
// missing: __syncthreads
// weak: never
// result: x 0 out 64
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
#include "../litmus.h"
#include "../tensor_core.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ unsigned columns;
  if (threadIdx.x < 32) {
    TENSOR_ALLOC(&columns, 32);  // RACE
  }
  const unsigned address = columns;  // RACE
  __syncthreads();
  if (threadIdx.x < 32) {
    TENSOR_FREE(columns, 32);
  }
  out[threadIdx.x] = address < 512 ? 1 : 0;
}

LITMUS(1, 64)
