// Shared memory is initialised by one thread; the barrier before the atomics is missing.
// expect: race intra-block shared
// variable: count
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) {
    count = 0;  // RACE
  }
  atomicAdd(&count, 1);  // RACE
  __syncthreads();
  out[threadIdx.x] = count;
}

LITMUS(1, 64)
