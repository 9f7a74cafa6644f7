// What a sparse product reads of B beyond a dense one's is stored again before the wait for it.
// expect: race intra-block shared
// expect paper: none
// variable: b[]
// missing: wgmma is not waited for
// weak: never
// result: x 0 out 6144
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#include "../litmus.h"
#include "../wgmma.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(128) __half a[TILE_A_HALVES], b[2 * TILE_B_HALVES];
  for (int i = threadIdx.x; i < TILE_A_HALVES; i += 128) {
    a[i] = __float2half(1);
  }
  for (int i = threadIdx.x; i < 2 * TILE_B_HALVES; i += 128) {
    b[i] = __int2half_rn(i / 64);
  }
  FENCE_PROXY_ASYNC();
  __syncthreads();
  const unsigned long long of_a = tile_of(a), of_b = tile_of(b);
  float d[4] = {};
  WGMMA_FENCE();
  WGMMA_SPARSE(d, of_a, of_b, FIRST_TWO_OF_FOUR);  // RACE
  WGMMA_COMMIT();
  __syncthreads();
  b[128 + threadIdx.x] = __int2half_rn(2 + threadIdx.x / 64);  // RACE
  WGMMA_WAIT(0);
  WGMMA_RESULT(d);
  out[threadIdx.x] = static_cast<int>(d[0] + d[1]);
}

LITMUS(1, 128)
