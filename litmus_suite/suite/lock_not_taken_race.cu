// One block writes without taking the lock.
// expect: race inter-block global
// weak: fails
// missing: ^the write at .*:10 is made without the lock that is taken at .*:12 for the
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) {
      x[0] = 100;  // RACE
    } else {
      while (atomicCAS(&flag[0], 0, 1) != 0) {
      }
      __threadfence();
      x[0] = x[0] + 1;  // RACE
      __threadfence();
      atomicExch(&flag[0], 0);
    }
  }
}

LITMUS(2, 32)
