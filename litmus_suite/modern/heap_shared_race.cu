// Memory of the device's heap is its block's: lanes of two warps write one word of it.
// expect: race intra-block global
// weak: never
// result: x 0 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int* all;
  if (threadIdx.x == 0) {
    all = static_cast<int*>(malloc(32 * sizeof(int)));
  }
  __syncthreads();
  if (all != nullptr) {
    all[threadIdx.x % 32] = threadIdx.x;  // RACE
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    free(all);
  }
}

LITMUS(2, 64)
