// Lanes exchange by __shfl_sync() alone.
// expect: none
// weak: never
// result: x 0 out 496
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  out[threadIdx.x] = __shfl_xor_sync(0xffffffff, x[threadIdx.x] + static_cast<int>(threadIdx.x), 1);
}

LITMUS(1, 32)
