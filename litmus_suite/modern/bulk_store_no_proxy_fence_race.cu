// Without the proxy fence the bulk copy may miss what was stored.
// expect: race intra-block shared
// variable: s[]
// weak: never
// expect paper: none
// flags: -arch=sm_90
#include "../async_copy.h"
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(16) int s[64];
  s[threadIdx.x] = threadIdx.x;  // RACE
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(x, s, 256);  // RACE
    BULK_COMMIT();
    BULK_WAIT();
  }
}

LITMUS(1, 64)
