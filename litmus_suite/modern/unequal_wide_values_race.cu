// Two blocks store 8 bytes of which only the upper ones differ.
// expect: race inter-block global
// weak: never
// missing: ^(?!.*equal in this run)
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const long long n = static_cast<long long>(blockIdx.x) << 40 | gridDim.x;
  if (threadIdx.x == 0) {
    *reinterpret_cast<long long*>(x) = n;  // RACE
  }
}

LITMUS(2, 32)
