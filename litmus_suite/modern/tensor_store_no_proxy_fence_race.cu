// Without the proxy fence the store of a tile may miss what was written to it.
// expect: race intra-block shared
// variable: s[]
// weak: never
// expect paper: none
// flags: -arch=sm_90
#include "../tensor.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ alignas(128) int s[64];
  s[threadIdx.x] = threadIdx.x;  // RACE
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_STORE(&map, 8, 8, s);  // RACE
    BULK_COMMIT();
    BULK_WAIT();
  }
}

TENSOR_LITMUS(1, 64, kTiles)
