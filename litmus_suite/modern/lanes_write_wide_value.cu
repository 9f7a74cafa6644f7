// Lanes of one store write the same 8 and the same 16 bytes to one place.
// expect: none
// weak: never
// result: x 4 out 6
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const long long n = gridDim.x;
  *reinterpret_cast<long long*>(x) = n << 32 | 3;
  *reinterpret_cast<int4*>(out) = make_int4(0, 1, 2, static_cast<int>(gridDim.x) + 2);
}

LITMUS(1, 32)
