// Lanes of one store write the same value to one shared word.
// expect: none
// weak: never
// result: x 0 out 224
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  s[0] = 7;
  __syncthreads();
  out[threadIdx.x] = s[0];
}

LITMUS(1, 32)
