// Every block writes a word of its own.
// expect: none
// weak: never
// result: x 6 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    x[blockIdx.x] = blockIdx.x;
  }
}

LITMUS(4, 32)
