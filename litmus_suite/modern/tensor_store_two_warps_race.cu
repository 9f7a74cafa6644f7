// Two warps store one tile: the same bytes, but not by one instruction.
// expect: race intra-block global
// weak: never
// flags: -arch=sm_90
#include "../tensor.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ alignas(128) int s[64];
  s[threadIdx.x] = threadIdx.x;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  TENSOR_STORE(&map, 8, 8, s);  // RACE
  BULK_COMMIT();
  BULK_WAIT();
}

TENSOR_LITMUS(1, 64, kTiles)
