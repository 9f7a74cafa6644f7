// A barrier of the grid by volatile flags, in a kernel that has no fence at all.
// expect: race inter-block global
// missing: __threadfence\(\) is missing in two places|volatile accesses are no synchronisation
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  volatile int* const arrived = flag;
  if (threadIdx.x == 0) {
    x[blockIdx.x] = 100 + blockIdx.x;  // RACE
    arrived[blockIdx.x] = 1;           // RACE
    for (unsigned block = 0; block < gridDim.x; ++block) {
      while (arrived[block] == 0) {  // RACE
      }
    }
    out[blockIdx.x] = x[(blockIdx.x + 1) % gridDim.x];  // RACE
  }
}

LITMUS(4, 32)
