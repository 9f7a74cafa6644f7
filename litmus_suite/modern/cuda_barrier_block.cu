// cuda::barrier of block scope in shared memory, where it is an mbarrier.
// expect: none
// weak: never
// result: x 0 out 4096
// flags: -arch=sm_90
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
  for (int round = 0; round < 2; ++round) {
    s[threadIdx.x] = round + threadIdx.x;
    barrier.arrive_and_wait();
    out[round * 64 + threadIdx.x] = s[threadIdx.x ^ 32];
    barrier.arrive_and_wait();
  }
}

LITMUS(1, 64)
