// The sums of a product are used before the wait for its group.
// expect: async-register
// expect paper: async-register
// weak: never
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#include "../litmus.h"
#include "../wgmma.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(128) __half a[TILE_A_HALVES], b[TILE_B_HALVES];
  for (int i = threadIdx.x; i < TILE_A_HALVES; i += 128) {
    a[i] = __float2half(1);
  }
  b[threadIdx.x] = __int2half_rn(row_in_tile(threadIdx.x));
  FENCE_PROXY_ASYNC();
  __syncthreads();
  const unsigned long long of_a = tile_of(a), of_b = tile_of(b);
  float d[4] = {};
  WGMMA_FENCE();
  WGMMA(d, of_a, of_b);  // RACE
  WGMMA_COMMIT();
  out[threadIdx.x] = static_cast<int>(d[0] + d[1]);  // RACE
  WGMMA_WAIT(0);
}

LITMUS(1, 128)
