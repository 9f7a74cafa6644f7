// __shfl_sync() exchanges values and orders no memory.
// expect: race intra-warp shared
// variable: s[]
// weak: fails
// expect paper: none
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;  // RACE
  const int theirs = __shfl_xor_sync(0xffffffff, static_cast<int>(threadIdx.x), 1);
  out[threadIdx.x] = s[theirs];  // RACE
}

LITMUS(1, 32)
