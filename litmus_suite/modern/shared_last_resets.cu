// The last to come resets the counter of shared memory by a plain store: it has seen all atomics.
// expect: none
// expect paper: race intra-block shared
// result: x 0 out 5
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int come;
  if (threadIdx.x == 0) {
    come = 0;
  }
  __syncthreads();
  if (atomicAdd(&come, 1) == 63) {  // RACE paper
    come = 5;                       // RACE paper
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    *out = come;
  }
  __threadfence();
  atomicAdd(flag, 1);
}

LITMUS(1, 64)
