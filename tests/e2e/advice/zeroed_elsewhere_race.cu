// A histogram over the shared memory of a cluster: each block clears its own part, and waits for
// its own threads alone.
// flags: -arch=sm_90
// expect: race inter-block shared
// missing: which are of one cluster: cluster.sync\(\) is missing
#include <cooperative_groups.h>

#include "../../../litmus_suite/litmus.h"

__global__ void __cluster_dims__(2, 1, 1) litmus(int* x, int* flag, int* out) {
  __shared__ int bins[32];
  cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  bins[threadIdx.x] = 0;  // RACE
  __syncthreads();
  const int value = threadIdx.x * 7 % 64;
  atomicAdd(cluster.map_shared_rank(bins, value / 32) + value % 32, 1);  // RACE
  cluster.sync();
  out[blockIdx.x * 32 + threadIdx.x] = bins[threadIdx.x];
}

LITMUS(2, 32)
