// Each warp sums up in shared memory, a __syncwarp() between two levels; one thread adds the sums
// of the warps with no barrier of the block between.
// expect: race intra-block shared
// variable: s[]
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  const int lane = threadIdx.x % 32;
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int level = 16; level > 0; level /= 2) {
    if (lane < level) {
      s[threadIdx.x] += s[threadIdx.x + level];  // RACE
    }
    __syncwarp();
  }
  if (threadIdx.x == 0) {
    *out = s[0] + s[32];  // RACE
  }
}

LITMUS(1, 64)
