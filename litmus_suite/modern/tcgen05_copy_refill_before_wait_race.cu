// What is copied to tensor memory is stored again before the wait for the commit.
// expect: race intra-block shared
// expect paper: none
// variable: tile[]
// missing: tcgen05.cp is not waited for|__syncthreads
// weak: never
// result: x 0 out 128
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
#include "../litmus.h"
#include "../tensor_core.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(128) __half tile[2 * TILE_A_HALVES];
  __shared__ MBarrier bar;
  __shared__ unsigned columns;
  if (threadIdx.x < 32) {
    TENSOR_ALLOC(&columns, 32);
  }
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
  }
  for (int i = threadIdx.x; i < 2 * TILE_A_HALVES; i += 128) {
    tile[i] = __float2half(1);
  }
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_COPY(columns, tensor_tile_of(tile));  // RACE
    TENSOR_COMMIT(&bar);
  }
  __syncthreads();
  tile[threadIdx.x] = __float2half(2);  // RACE
  MBARRIER_WAIT(&bar, 0);
  __syncthreads();
  if (threadIdx.x < 32) {
    TENSOR_FREE(columns, 32);
  }
  out[threadIdx.x] = 1;
}

LITMUS(1, 128)
