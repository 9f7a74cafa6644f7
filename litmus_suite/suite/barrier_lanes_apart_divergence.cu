// The lanes of a warp arrive at two different __syncthreads().
// expect: barrier-divergence
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  if (threadIdx.x % 2 == 0) {
    s[threadIdx.x] = 1;
    __syncthreads();  // DIVERGENCE
    out[threadIdx.x] = s[threadIdx.x];
  } else {
    x[threadIdx.x] = 2;
    __syncthreads();  // DIVERGENCE
    out[threadIdx.x] = x[threadIdx.x] + 1;
  }
}  // DIVERGENCE paper: where the other lanes have left meanwhile

LITMUS(1, 32)
