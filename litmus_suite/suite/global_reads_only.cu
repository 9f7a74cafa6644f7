// All threads of all blocks read one word.
// expect: none
// weak: never
// result: x 0 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = x[0];
}

LITMUS(4, 64)
