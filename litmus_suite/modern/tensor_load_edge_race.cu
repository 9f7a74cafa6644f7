// The half of the tile that lies in the tensor is read while the other warp writes it.
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
    MBARRIER_ARRIVE_EXPECT(&bar, kTileBytes);
    TENSOR_LOAD(s, &map, 60, 8, &bar);  // RACE
  }
  if (threadIdx.x >= 32) {
    const unsigned cell = threadIdx.x - 32;
    x[(8 + cell / 4) * 64 + 60 + cell % 4] = 7;  // RACE
  }
  __syncthreads();
  MBARRIER_WAIT(&bar, 0);
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

TENSOR_LITMUS(1, 64, kTiles)
