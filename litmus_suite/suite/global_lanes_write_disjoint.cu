// Every lane writes a word of its own.
// expect: none
// weak: never
// result: x 496 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  x[threadIdx.x] = threadIdx.x;
}

LITMUS(1, 32)
