// A box of three dimensions over a corner of its tensor.
// expect: none
// weak: never
// result: x 8386560 out 44910
// flags: -arch=sm_90
#include "../tensor.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ MBarrier bar;
  __shared__ alignas(128) int s[64];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
    FENCE_PROXY_ASYNC();
    MBARRIER_ARRIVE_EXPECT(&bar, 256);
    TENSOR_LOAD_3D(s, &map, 14, -1, 14, &bar);
  }
  __syncthreads();
  MBARRIER_WAIT(&bar, 0);
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

// 16 by 16 by 16, in boxes of 4 by 4 by 4.
TENSOR_LITMUS(1, 64, (Tensor{3, {16, 16, 16}, {4, 4, 4}}))
