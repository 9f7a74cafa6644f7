// A guard at the edge of the data, which leaves before the barrier, as programs do.
// expect: none
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 100) {
    return;
  }
  x[i] = 1;
  __syncthreads();
  out[i] = x[i];
}

LITMUS(2, 64)
