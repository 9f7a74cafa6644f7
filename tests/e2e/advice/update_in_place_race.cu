// A counter without an atomic: lanes, warps and blocks lose increments of one another.
// expect: race inter-block global
// missing: an atomic operation is needed
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  x[0]++;  // RACE
}

LITMUS(2, 64)
