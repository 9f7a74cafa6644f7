// The twin of vector_dead_element: the third word is the one that is written.
// expect: race inter-block global
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    const int4 point = *reinterpret_cast<int4*>(x);  // RACE
    out[0] = point.x + point.y + point.z;
  }
  if (THREAD(1, 0)) {
    x[2] = 9;  // RACE
  }
}

LITMUS(2, 32)
