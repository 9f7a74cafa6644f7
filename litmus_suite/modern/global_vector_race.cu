// A 16-byte store and a load of its last word.
// expect: race inter-block global
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    *reinterpret_cast<int4*>(x) = make_int4(1, 2, 3, 4);  // RACE
  }
  if (THREAD(1, 0)) {
    out[0] = x[3];  // RACE
  }
}

LITMUS(2, 32)
