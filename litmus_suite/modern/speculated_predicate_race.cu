// The twin of speculated_predicate: a second thread, without a barrier, needs the flag.
// expect: race intra-warp shared
// variable: last
// weak: never
// expect paper: race branch-ordering shared
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    last = atomicAdd(&flag[0], 1) == 0;  // RACE
  }
  if (threadIdx.x < 2 && last) {  // RACE
    out[threadIdx.x] = 1;
  }
}

LITMUS(1, 64)
