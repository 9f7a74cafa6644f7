// A warp waits for a volatile flag in shared memory, without any fence: a barrier there would wait
// for ever.
// expect: race intra-block shared
// missing: cuda::atomic_ref|__threadfence\(\) is missing in two places
// variable: go data
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  volatile __shared__ int go;
  __shared__ int data;
  if (threadIdx.x == 0) {
    go = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    data = x[0];  // RACE
    go = 1;       // RACE
  }
  if (threadIdx.x == 32) {
    while (go == 0) {  // RACE
    }
    out[0] = data;  // RACE
  }
}

LITMUS(1, 64)
