// The compiler makes one store of the two, and gives it no line.
// expect: race intra-block shared
// variable: s[]
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  if (threadIdx.x % 2 == 0) {
    s[threadIdx.x] = 1;  // RACE
  } else {
    s[threadIdx.x] = 2;  // RACE
  }
  __syncwarp();
  out[threadIdx.x] = s[63 - threadIdx.x];  // RACE
}

LITMUS(1, 64)
