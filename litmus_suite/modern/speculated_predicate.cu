// The compiler reads the flag in all threads for a condition that holds in one of them only.
// expect: none
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    last = atomicAdd(&flag[0], 1) == 0;
  }
  if (threadIdx.x == 0 && last) {
    out[0] = 1;
  }
}

LITMUS(1, 64)
