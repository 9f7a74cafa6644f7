// Each warp stores where the next one reads, by one statement: the barrier needs two.
// expect: race intra-block shared
// missing: missing between the two accesses of one statement, which must become two
// variable: cells[]
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int cells[96];
  cells[threadIdx.x] = threadIdx.x;
  __syncthreads();
  cells[threadIdx.x + 32] = cells[threadIdx.x] + 1;  // RACE
  __syncthreads();
  out[threadIdx.x] = cells[threadIdx.x];
}

LITMUS(1, 64)
