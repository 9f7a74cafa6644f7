// A flag with system-wide fences.
// expect: none
// weak: never
// result: x 42 out 42
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  volatile int* ready = flag;
  if (THREAD(0, 0)) {
    x[0] = 42;
    __threadfence_system();
    ready[0] = 1;
  }
  if (THREAD(1, 0)) {
    while (ready[0] == 0) {
    }
    __threadfence_system();
    out[0] = x[0];
  }
}

LITMUS(2, 32)
