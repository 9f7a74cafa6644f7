// A flag in shared memory hands data to another warp.
// expect: none
// weak: never
// result: x 0 out 42
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int data;
  __shared__ int ready;
  if (threadIdx.x == 0) {
    ready = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    data = x[7] + 42;
    __threadfence_block();
    atomicExch(&ready, 1);
  }
  if (threadIdx.x == 32) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    __threadfence_block();
    out[0] = data;
  }
}

LITMUS(1, 64)
