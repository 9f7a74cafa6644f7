// A 64-bit compare-and-swap that exchanges the lower word and keeps the upper one, which another
// block reads: it was written before.
// expect: none
// weak: never
// result: x 1 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    atomicCAS(reinterpret_cast<unsigned long long*>(x), 0ULL, 1ULL);
    __threadfence();
  }
  if (THREAD(1, 0)) {
    out[0] = x[1];
  }
}

LITMUS(2, 32)
