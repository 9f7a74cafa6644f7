// What the other block wrote is read between arrive and wait.
// expect: race inter-block global
// weak: fails
// flags: -arch=sm_90
#include "../litmus.h"

__global__ void __cluster_dims__(2, 1, 1) litmus(int* x, int* flag, int* out) {
  x[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;  // RACE
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  out[blockIdx.x * 32 + threadIdx.x] = x[(blockIdx.x ^ 1) * 32 + threadIdx.x];  // RACE
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

LITMUS(2, 32)
