// A 16-byte load of which the fourth word is not used; another block writes that.
// expect: none
// weak: never
// result: x 9 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    const int4 point = *reinterpret_cast<int4*>(x);
    out[0] = point.x + point.y + point.z;
  }
  if (THREAD(1, 0)) {
    x[3] = 9;
  }
}

LITMUS(2, 32)
