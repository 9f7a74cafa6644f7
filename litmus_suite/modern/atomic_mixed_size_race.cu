// A 64-bit and a 32-bit atomic overlap.
// expect: race inter-block global
// weak: never
// expect paper: none
// missing: different sizes
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    atomicAdd(reinterpret_cast<unsigned long long*>(x), 1ULL);  // RACE
  }
  if (THREAD(1, 0)) {
    atomicAdd(&x[1], 1);  // RACE
  }
}

LITMUS(2, 32)
