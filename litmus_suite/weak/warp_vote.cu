// Thesis 5.2, after a graph traversal: the lanes of a warp write their numbers into one cell, and
// the lane that reads its own back is the winner. One lane must win in each warp. The stores race
// by design (a volatile store against others is a warning), and without an order between store and
// load so does the load.
//
// expect: race intra-warp shared
// variable: array
// weak: never
// variant fence: -DORDER=1
// expect fence: race intra-warp shared
// weak fence: never
// variant no_fence: -DORDER=0
// expect no_fence: race intra-warp shared
// weak no_fence: fails
// fence no_fence: __syncwarp, acq_rel cta
// behind no_fence: *cell = threadIdx.x;
#include "weak.h"

#ifndef ORDER
#  define ORDER 2
#endif

constexpr int kThreads = 64;

__global__ void vote(int* winners) {
  __shared__ int array[kThreads / 32];
  volatile int* cell = &array[threadIdx.x / 32];
  *cell = threadIdx.x;  // RACE
  if (ORDER == 1) {
    __threadfence_block();
  } else if (ORDER == 2) {
    __syncwarp();
  }
  if (*cell == threadIdx.x) {  // RACE
    atomicAdd(&winners[threadIdx.x / 32], 1);
  }
}

int run_round() {
  int* const winners = device_array<int>(kThreads / 32);
  vote<<<1, kThreads>>>(winners);
  finish_kernels();
  long long one = 0;
  for (const int count : to_host(winners, kThreads / 32)) {
    one += count == 1;
  }
  return conclude("warps with one winner:", one, kThreads / 32);
}
