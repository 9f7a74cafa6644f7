// Every block writes a word of its own.
// expect: none
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    x[blockIdx.x] = blockIdx.x;
  }
}

LITMUS(4, 32)
