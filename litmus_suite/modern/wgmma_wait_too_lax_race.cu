// With one group left, the tile of the last group is still read.
// expect: race intra-block shared
// expect paper: none
// variable: c[]
// missing: wgmma is not waited for
// weak: never
// result: x 0 out 43008
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#include "../litmus.h"
#include "../wgmma.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(128) __half a[TILE_A_HALVES], b[TILE_B_HALVES], c[TILE_B_HALVES];
  for (int i = threadIdx.x; i < TILE_A_HALVES; i += 128) {
    a[i] = __float2half(1);
  }
  b[threadIdx.x] = __int2half_rn(row_in_tile(threadIdx.x));
  c[threadIdx.x] = __int2half_rn(2 * row_in_tile(threadIdx.x));
  FENCE_PROXY_ASYNC();
  __syncthreads();
  const unsigned long long of_a = tile_of(a), of_b = tile_of(b), of_c = tile_of(c);
  float d[4] = {}, e[4] = {};
  WGMMA_FENCE();
  WGMMA(d, of_a, of_b);
  WGMMA_COMMIT();
  WGMMA(e, of_a, of_c);  // RACE
  WGMMA_COMMIT();
  WGMMA_WAIT(1);
  __syncthreads();
  c[threadIdx.x] = __int2half_rn(2 * row_in_tile(threadIdx.x));  // RACE
  WGMMA_WAIT(0);
  WGMMA_RESULT(d);
  WGMMA_RESULT(e);
  out[threadIdx.x] = static_cast<int>(d[0] + d[1] + e[0] + e[1]);
}

LITMUS(1, 128)
