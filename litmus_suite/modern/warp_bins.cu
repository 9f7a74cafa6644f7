// Each warp counts in bins of its own, which it has cleared before a __syncwarp(). The kernel has a
// fence, far from the atomics.
// expect: none
// result: x 0 out 64
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int bins[2][4];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane < 4) {
    bins[warp][lane] = 0;
  }
  __syncwarp();
  const int before = atomicAdd(&bins[warp][lane % 4], 1);
  __syncthreads();
  if (threadIdx.x < 4) {
    atomicAdd(out, bins[0][threadIdx.x] + bins[1][threadIdx.x]);
  }
  __threadfence();
  atomicAdd(flag, before);
}

LITMUS(1, 64)
