// The offsets of an im2col copy lead to the last pixel of a line, which another warp stores.
// expect: race intra-block global
// weak: never
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
    TENSOR_LOAD_PIXELS(s, &map, 0, 12, 2, 0, &bar, 1, 1);  // RACE
  }
  if (threadIdx.x >= 32) {
    x[((3 * kImageSide + 15) * kChannels) + threadIdx.x % 8] = 0;  // RACE
  }
  __syncthreads();
  MBARRIER_WAIT(&bar, 0);
  out[threadIdx.x] = s[threadIdx.x];
}

PIXEL_LITMUS(1, 64)
