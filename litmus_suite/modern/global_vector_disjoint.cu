// A 16-byte store and a load of the word behind it.
// expect: none
// weak: never
// result: x 10 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    *reinterpret_cast<int4*>(x) = make_int4(1, 2, 3, 4);
  }
  if (THREAD(1, 0)) {
    out[0] = x[4];
  }
}

LITMUS(2, 32)
