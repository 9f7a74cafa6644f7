// A block writes four bytes, another two of them.
// expect: race inter-block global
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[0] = 5;  // RACE
  }
  if (THREAD(1, 0)) {
    reinterpret_cast<short*>(x)[1] = 6;  // RACE
  }
}

LITMUS(2, 32)
