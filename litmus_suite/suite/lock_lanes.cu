// Every lane of a warp takes the lock: lanes that spin must not starve the holder.
// expect: none
// weak: never
// result: x 32 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  for (bool done = false; !done;) {
    if (atomicCAS(&flag[0], 0, 1) == 0) {
      __threadfence();
      x[0] = x[0] + 1;
      __threadfence();
      atomicExch(&flag[0], 0);
      done = true;
    }
  }
}

LITMUS(1, 32)
