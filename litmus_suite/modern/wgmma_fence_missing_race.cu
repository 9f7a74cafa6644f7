// Sums get their first values without a wgmma.fence before the product.
// expect: async-register
// expect paper: async-register
// result: x 0 out 22464
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
  const float first = static_cast<float>(threadIdx.x);  // RACE
  float d[4] = {first, 0, 0, 0};
  WGMMA(d, of_a, of_b);  // RACE
  WGMMA_COMMIT();
  WGMMA_WAIT(0);
  WGMMA_RESULT(d);
  out[threadIdx.x] = static_cast<int>(d[0] + d[1]);
}

LITMUS(1, 128)
