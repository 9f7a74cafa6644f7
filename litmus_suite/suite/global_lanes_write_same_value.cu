// Lanes of one store write the same value to one word.
// expect: none
// weak: never
// result: x 7 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  x[0] = 7 + blockIdx.x;
}

LITMUS(1, 32)
