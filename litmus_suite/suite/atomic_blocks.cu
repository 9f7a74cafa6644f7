// Atomics of many blocks on one word.
// expect: none
// weak: never
// result: x 256 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  atomicAdd(&x[0], 1);
}

LITMUS(4, 64)
