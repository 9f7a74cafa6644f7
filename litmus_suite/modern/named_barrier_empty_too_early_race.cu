// The consumer says that the buffer is empty before it has read it.
// expect: race intra-block shared
// variable: s[]
// weak: fails
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  for (int round = 0; round < 3; ++round) {
    if (WARP(0)) {
      if (round > 0) {
        asm volatile("bar.sync 2, 64;" ::: "memory");
      }
      s[threadIdx.x] = round * 32 + threadIdx.x;  // RACE
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      if (round < 2) {
        asm volatile("bar.arrive 2, 64;" ::: "memory");
      }
      out[round * 32 + threadIdx.x - 32] = s[threadIdx.x - 32];  // RACE
    }
  }
}

LITMUS(1, 64)
