// A warp reads shared memory that another writes; __syncwarp() is not enough.
// expect: race intra-block shared
// variable: s[]
// weak: never
// missing: __syncthreads\(\) is missing
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;  // RACE
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x ^ 32];  // RACE
}

LITMUS(1, 64)
