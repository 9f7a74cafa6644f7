// A flag in shared memory without fences.
// expect: race intra-block shared
// variable: data
// weak: fails
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int data;
  __shared__ int ready;
  if (threadIdx.x == 0) {
    ready = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    data = x[7] + 42;  // RACE
    atomicExch(&ready, 1);
  }
  if (threadIdx.x == 32) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    out[0] = data;  // RACE
  }
}

LITMUS(1, 64)
