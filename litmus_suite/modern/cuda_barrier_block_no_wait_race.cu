// The token of arrive() is not waited for.
// expect: race intra-block shared
// variable: s[]
// weak: fails
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
  s[threadIdx.x] = threadIdx.x;  // RACE
  auto token = barrier.arrive();
  out[threadIdx.x] = s[threadIdx.x ^ 32];  // RACE
  barrier.wait(static_cast<decltype(token)&&>(token));
}

LITMUS(1, 64)
