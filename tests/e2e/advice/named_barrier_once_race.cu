// Two warps with a barrier of their own: the consumer reads, the producer writes the next round
// without another one. __syncthreads() would never open: the third warp has left.
// expect: race intra-block shared
// missing: meet at barriers of their own
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  if (WARP(2)) {
    return;
  }
  for (int round = 0; round < 2; ++round) {
    if (WARP(0)) {
      s[threadIdx.x] = round;  // RACE
    }
    asm volatile("bar.sync 1, 64;" ::: "memory");
    if (WARP(1)) {
      out[threadIdx.x] += s[threadIdx.x - 32];  // RACE
    }
  }
}

LITMUS(1, 96)
