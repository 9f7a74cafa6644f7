// Dynamic shared memory, with the barrier.
// expect: none
// weak: never
// result: x 0 out 2016
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = dynamic[threadIdx.x ^ 32];
}

LITMUS(1, 64)
