// cuda::barrier of block scope on an architecture where it is made of atomics.
// expect: none
// weak: never
// result: x 0 out 2016
#include <cuda/barrier>

#include "../litmus.h"

// init() below does what the constructor would.
#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int s[64];
  if (threadIdx.x == 0) {
    init(&barrier, 64);
  }
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;
  barrier.arrive_and_wait();
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

LITMUS(1, 64)
