// The second kernel waits for the first, which let it begin, before it reads what that one wrote.
// expect: none
// weak: never
// result: x 2016 out 2016
// flags: -arch=sm_90
#include "../dependents.h"

__global__ void first(Cells cells) {
  cudaTriggerProgrammaticLaunchCompletion();
  cells.x[threadIdx.x] = threadIdx.x;
}

__global__ void second(Cells cells) {
  cudaGridDependencySynchronize();
  cells.out[threadIdx.x] = cells.x[threadIdx.x ^ 32];
}

int main() {
  return run_dependent(first, second);
}
