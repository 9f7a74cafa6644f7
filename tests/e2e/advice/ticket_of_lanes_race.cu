// Lanes of one store draw tickets that fall together: no fence beside the ticket helps.
// expect: race intra-warp global
// missing: store to one place by one instruction.*one thread alone should store it
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const int ticket = atomicAdd(&flag[0], 1);
  __threadfence();
  x[ticket % 8] = threadIdx.x;  // RACE
}

LITMUS(1, 32)
