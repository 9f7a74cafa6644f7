// A read through the read-only path need not see what the kernel writes, not even after a barrier.
// expect: race intra-block global
// weak: never
// expect paper: none
// missing: read-only path
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  x[threadIdx.x] = threadIdx.x;  // RACE
  __syncthreads();
  out[threadIdx.x] = __ldg(&x[threadIdx.x ^ 32]);  // RACE
}

LITMUS(1, 64)
