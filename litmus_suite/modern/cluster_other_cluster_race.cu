// A cluster barrier orders no other cluster.
// expect: race inter-block global
// weak: fails
// flags: -arch=sm_90
#include "../litmus.h"

__global__ void __cluster_dims__(2, 1, 1) litmus(int* x, int* flag, int* out) {
  x[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;  // RACE
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  out[blockIdx.x * 32 + threadIdx.x] = x[(blockIdx.x ^ 2) * 32 + threadIdx.x];  // RACE
}

LITMUS(4, 32)
