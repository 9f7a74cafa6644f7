// The word that a 64-bit compare-and-swap exchanges is read by another block.
// expect: race inter-block global
// weak: never
// expect paper: none
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    atomicCAS(reinterpret_cast<unsigned long long*>(x), 0ULL, 1ULL << 32);  // RACE
    __threadfence();
  }
  if (THREAD(1, 0)) {
    out[0] = x[1];  // RACE
  }
}

LITMUS(2, 32)
