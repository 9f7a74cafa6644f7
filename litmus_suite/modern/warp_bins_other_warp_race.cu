// Each warp clears bins, and counts in those of the other warp with only a __syncwarp() between.
// expect: race intra-block shared
// variable: bins bins[] bins[][]
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int bins[2][4];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane < 4) {
    bins[warp][lane] = 0;  // RACE
  }
  __syncwarp();
  const int before = atomicAdd(&bins[1 - warp][lane % 4], 1);  // RACE
  __syncthreads();
  if (threadIdx.x < 4) {
    atomicAdd(out, bins[0][threadIdx.x] + bins[1][threadIdx.x]);
  }
  __threadfence();
  atomicAdd(flag, before);
}

LITMUS(1, 64)
