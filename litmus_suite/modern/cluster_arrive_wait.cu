// A cluster barrier in two halves: arrive releases, wait acquires.
// expect: none
// weak: never
// result: x 992 out 992
// flags: -arch=sm_90
#include <cooperative_groups.h>

#include "../litmus.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) litmus(int* x, int* flag, int* out) {
  x[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  out[blockIdx.x * 32 + threadIdx.x] = x[(blockIdx.x ^ 1) * 32 + threadIdx.x];
}

LITMUS(2, 32)
