// The commit is for the first product; the second one still reads its tile.
// expect: race intra-block shared
// variable: b[]
// missing: tcgen05.mma is not waited for|__syncthreads
// weak: never
// result: x 0 out 128
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
#include "../litmus.h"
#include "../tensor_core.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(128) __half a[TILE_A_HALVES], b[TILE_B_HALVES];
  __shared__ MBarrier bar;
  __shared__ unsigned columns;
  if (threadIdx.x < 32) {
    TENSOR_ALLOC(&columns, 32);
  }
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);
  }
  for (int i = threadIdx.x; i < TILE_A_HALVES; i += 128) {
    a[i] = __float2half(1);
  }
  b[threadIdx.x] = __int2half_rn(row_in_tile(threadIdx.x));
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_MMA(columns, tensor_tile_of(a), tensor_tile_of(a));
    TENSOR_COMMIT(&bar);
    TENSOR_MMA(columns + 16, tensor_tile_of(a), tensor_tile_of(b));  // RACE
  }
  MBARRIER_WAIT(&bar, 0);
  b[threadIdx.x] = __float2half(2);  // RACE
  __syncthreads();
  if (threadIdx.x < 32) {
    TENSOR_FREE(columns, 32);
  }
  out[threadIdx.x] = 1;
}

LITMUS(1, 128)
