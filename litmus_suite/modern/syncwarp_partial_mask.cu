// Sixteen lanes exchange among themselves; the barrier's mask names them.
// expect: none
// weak: never
// result: x 0 out 120
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  if (threadIdx.x < 16) {
    s[threadIdx.x] = threadIdx.x;
    __syncwarp(0x0000ffff);
    out[threadIdx.x] = s[threadIdx.x ^ 1];
  }
}

LITMUS(1, 32)
