// A product, its sums read from tensor memory by the four warps, sixteen rows each. What is done to
// tensor memory is not looked at, and coverage is incomplete.
// expect: none
// weak: never
// result: x 0 out 28672
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
#include "../litmus.h"
#include "../tensor_core.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(128) __half a[TILE_A_HALVES], b[TILE_B_HALVES];
  __shared__ MBarrier done;
  __shared__ unsigned columns;
  if (threadIdx.x < 32) {
    TENSOR_ALLOC(&columns, 32);
  }
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&done, 1);
  }
  for (int i = threadIdx.x; i < TILE_A_HALVES; i += 128) {
    a[i] = __float2half(1);
  }
  b[threadIdx.x] = __int2half_rn(row_in_tile(threadIdx.x));
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_MMA(columns, tensor_tile_of(a), tensor_tile_of(b));
    TENSOR_COMMIT(&done);
  }
  MBARRIER_WAIT(&done, 0);
  TENSOR_FENCE_AFTER();
  const unsigned own = columns + (threadIdx.x / 32 * 32 << 16);
  int sum = 0;
  for (unsigned column = 0; column < 8; ++column) {
    unsigned bits;
    TENSOR_LOAD(bits, own + column);
    sum += static_cast<int>(__uint_as_float(bits));
  }
  TENSOR_FENCE_BEFORE();
  __syncthreads();
  if (threadIdx.x < 32) {
    TENSOR_FREE(columns, 32);
  }
  // The other lanes' rows are not of the product.
  out[threadIdx.x] = threadIdx.x % 32 < 16 ? sum : 0;
}

LITMUS(1, 128)
