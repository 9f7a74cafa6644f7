// One thread waits for the first kernel, and nobody for that thread.
// expect: race inter-kernel global
// weak: never
// flags: -arch=sm_90
#include "../dependents.h"

__global__ void first(Cells cells) {
  cells.x[threadIdx.x] = threadIdx.x;  // RACE
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void second(Cells cells) {
  if (threadIdx.x == 0) {
    cudaGridDependencySynchronize();
  }
  cells.out[threadIdx.x] = cells.x[threadIdx.x ^ 32];  // RACE
}

int main() {
  return run_dependent(first, second);
}
