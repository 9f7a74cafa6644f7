// The rows of a tile lie in shared memory as the widest swizzle has them.
// expect: none
// weak: never
// result: x 8386560 out 1560
// flags: -arch=sm_90
#include "../tensor.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ MBarrier bar;
  __shared__ alignas(1024) int s[256];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
    FENCE_PROXY_ASYNC();
    MBARRIER_ARRIVE_EXPECT(&bar, 1024);
    TENSOR_LOAD(s, &map, 0, 0, &bar);
  }
  __syncthreads();
  MBARRIER_WAIT(&bar, 0);
  if (threadIdx.x < 16) {  // the first 16 bytes of row r are piece r of it
    const unsigned row = threadIdx.x / 4;
    out[threadIdx.x] = s[row * 32 + row * 4 + threadIdx.x % 4];
  }
}

TENSOR_LITMUS(1, 64, (Tensor{2, {64, 64, 1}, {32, 8, 1}, CU_TENSOR_MAP_SWIZZLE_128B}))
