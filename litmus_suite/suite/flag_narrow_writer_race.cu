// The writing side fences for its block only.
// expect: race inter-block global
// weak: fails
// missing: too narrow.*device scope \(\.gpu\)
// expect paper: none
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[0] = 42;  // RACE
    __threadfence_block();
    atomicExch(&flag[0], 1);
  }
  if (THREAD(1, 0)) {
    while (atomicAdd(&flag[0], 0) == 0) {
    }
    __threadfence();
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)
