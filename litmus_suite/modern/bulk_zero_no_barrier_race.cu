// A store of many bytes orders nothing: who reads them needs the barrier.
// expect: race intra-warp shared
// variable: s[]
// weak: never
// expect paper: none
// flags: -arch=sm_100
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(16) int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_ZERO(s, 32 * sizeof(int));  // RACE
  }
  out[threadIdx.x] = s[threadIdx.x];  // RACE
}

LITMUS(1, 64)
