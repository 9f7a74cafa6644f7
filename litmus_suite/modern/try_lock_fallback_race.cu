// Who is refused the lock does not wait, and updates what the lock guards all the same.
// expect: race inter-block global
// schedule: some
// ordered: out 0
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    if (atomicCAS(&flag[0], 0, 1) == 0) {
      __threadfence();
      x[0] += 1;  // RACE
      __threadfence();
      atomicExch(&flag[0], 0);
    } else {
      atomicAdd(&x[0], 1);  // RACE
      out[blockIdx.x] = 1;
    }
  }
}

LITMUS(4, 32)
