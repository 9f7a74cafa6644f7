// The second kernel does not wait, and need not: the first does not let it begin.
// expect: none
// weak: never
// result: x 2016 out 2016
// flags: -arch=sm_90
#include "../dependents.h"

__global__ void first(Cells cells) {
  cells.x[threadIdx.x] = threadIdx.x;
}

__global__ void second(Cells cells) {
  cells.out[threadIdx.x] = cells.x[threadIdx.x ^ 32];
}

int main() {
  return run_dependent(first, second);
}
