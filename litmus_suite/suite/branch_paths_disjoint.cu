// The paths of a branch write different words.
// expect: none
// weak: never
// result: x 48 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x < 16) {
    x[threadIdx.x] = 1;
  } else {
    x[threadIdx.x + 100] = 2;
  }
}

LITMUS(1, 32)
