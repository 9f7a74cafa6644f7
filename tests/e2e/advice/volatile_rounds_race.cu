// Warps look at each other's volatile cells in a loop that each thread leaves at a time of its own:
// who has left would not come to a barrier there.
// expect: race intra-block shared
// missing: volatile accesses are no synchronisation .*atomic ones are needed
// variable: cells[]
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  volatile __shared__ int cells[64];
  cells[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int most = 0;
  for (unsigned round = 0; round < threadIdx.x % 32 + 1; ++round) {
    most = max(most, cells[(threadIdx.x + 32 + round) % 64]);  // RACE
    cells[threadIdx.x] = most;                                 // RACE
  }
  out[threadIdx.x] = most;
}

LITMUS(1, 64)
