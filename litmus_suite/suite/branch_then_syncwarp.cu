// What a path wrote is read by all lanes after __syncwarp().
// expect: none
// weak: never
// result: x 120 out 240
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x < 16) {
    x[threadIdx.x] = threadIdx.x;
  }
  __syncwarp();
  out[threadIdx.x] = x[threadIdx.x % 16];
}

LITMUS(1, 32)
