// Blocks store to the same places in an unrolled loop: one statement, several stores.
// expect: race inter-block global
// missing: store to one place by one (statement|instruction)
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out[(thread + 32 * i) % 64] = thread;  // RACE
  }
}

LITMUS(2, 32)
