// Two blocks store a number of the launch, the same in both, and 8 bytes of a constant.
// expect: race inter-block global
// missing: equal in this run
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    x[0] = gridDim.x;                       // RACE
    *reinterpret_cast<double*>(out) = 0.5;  // RACE
  }
}

LITMUS(2, 32)
