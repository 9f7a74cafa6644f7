// A tile is loaded by its tensor map, and read once its mbarrier says that it is there.
// expect: none
// weak: never
// result: x 8386560 out 80608
// flags: -arch=sm_90
#include "../tensor.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ MBarrier bar;
  __shared__ alignas(128) int s[64];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
    FENCE_PROXY_ASYNC();
    MBARRIER_ARRIVE_EXPECT(&bar, kTileBytes);
    TENSOR_LOAD(s, &map, 8, 16, &bar);
  }
  __syncthreads();
  MBARRIER_WAIT(&bar, 0);
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

TENSOR_LITMUS(1, 64, kTiles)
