// Dynamic shared memory, without the barrier.
// expect: race intra-block shared
// variable: dynamic[]
// weak: fails
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = threadIdx.x;            // RACE
  out[threadIdx.x] = dynamic[threadIdx.x ^ 32];  // RACE
}

LITMUS(1, 64)
