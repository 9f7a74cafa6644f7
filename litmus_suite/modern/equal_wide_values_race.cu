// Two blocks store the same 8 and the same 16 bytes, which the compiler does not know.
// expect: race inter-block global
// weak: never
// missing: equal in this run
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    *reinterpret_cast<double*>(x) = 1.0 / gridDim.x;  // RACE
    const int n = static_cast<int>(gridDim.x);
    *reinterpret_cast<int4*>(out) = make_int4(n, n + 1, n + 2, n + 3);  // RACE
  }
}

LITMUS(2, 32)
