// The second kernel reads what the first writes before it waits for it.
// expect: race inter-kernel global
// weak: never
// flags: -arch=sm_90
#include "../dependents.h"

__global__ void first(Cells cells) {
  cudaTriggerProgrammaticLaunchCompletion();
  cells.x[threadIdx.x] = threadIdx.x;  // RACE
}

__global__ void second(Cells cells) {
  cells.out[threadIdx.x] = cells.x[threadIdx.x ^ 32];  // RACE
  cudaGridDependencySynchronize();
}

int main() {
  return run_dependent(first, second);
}
