// A column of pixels is loaded by an im2col map; pixels that it goes past are stored meanwhile.
// expect: none
// weak: never
// result: x 8378568 out 33568
// flags: -arch=sm_90
#include "../tensor.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ MBarrier bar;
  __shared__ alignas(128) int s[64];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
    FENCE_PROXY_ASYNC();
    MBARRIER_ARRIVE_EXPECT(&bar, kPixelBytes);
    TENSOR_LOAD_PIXELS(s, &map, 0, 12, 2, 0, &bar, 1, 1);
  }
  if (threadIdx.x >= 32) {
    x[((3 * kImageSide + 12) * kChannels) + threadIdx.x % 8] = 0;
    x[(4 * kImageSide * kChannels) + threadIdx.x % 8] = 0;
  }
  __syncthreads();
  MBARRIER_WAIT(&bar, 0);
  out[threadIdx.x] = s[threadIdx.x];
}

PIXEL_LITMUS(1, 64)
