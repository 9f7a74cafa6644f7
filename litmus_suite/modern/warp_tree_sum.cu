// Each warp sums up in shared memory, a __syncwarp() between two levels; one thread adds the sums
// behind a barrier of the block.
// expect: none
// weak: never
// result: x 0 out 2016
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[64];
  const int lane = threadIdx.x % 32;
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int level = 16; level > 0; level /= 2) {
    if (lane < level) {
      s[threadIdx.x] += s[threadIdx.x + level];
    }
    __syncwarp();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    *out = s[0] + s[32];
  }
}

LITMUS(1, 64)
