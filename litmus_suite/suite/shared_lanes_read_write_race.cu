// A lane reads the shared word its neighbour writes.
// expect: race intra-warp shared
// variable: s[]
// weak: fails
// missing: __syncwarp\(\) is missing
// expect paper: none
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;           // RACE
  out[threadIdx.x] = s[threadIdx.x ^ 1];  // RACE
}

LITMUS(1, 32)
