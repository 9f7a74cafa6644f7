// The mask names one byte of a word that another warp stores.
// expect: race intra-block global
// weak: never
// flags: -arch=sm_100
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(128) int s[64];
  s[threadIdx.x] = threadIdx.x;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE_MASKED(x, s, 256, 0xF1F0);  // RACE
    BULK_COMMIT();
    BULK_WAIT();
  }
  if (threadIdx.x >= 32) {
    x[(threadIdx.x - 32) * 2] = 1;  // RACE
  }
}

LITMUS(1, 64)
