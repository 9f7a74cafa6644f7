// All warps of a block store the same table: another value in each lane, and in each warp the same.
// expect: race intra-block shared
// missing: one thread alone should store it, or each needs a place of its own
// variable: table[]
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int table[32];
  const int lane = threadIdx.x % 32;
  table[lane] = lane * lane;  // RACE
  __syncthreads();
  out[threadIdx.x] = table[31 - lane];
}

LITMUS(1, 64)
