// Block-scope atomics of two blocks on one word.
// expect: race inter-block global
// weak: never
// expect paper: none
// missing: atomic's scope, block scope \(\.cta\), is too narrow: device scope \(\.gpu\) is needed
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    atomicAdd_block(&x[0], 1);  // RACE
  }
}

LITMUS(2, 32)
