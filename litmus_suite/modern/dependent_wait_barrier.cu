// One thread waits for the first kernel, and the others for that thread.
// expect: none
// weak: never
// result: x 2016 out 2016
// flags: -arch=sm_90
#include "../dependents.h"

__global__ void first(Cells cells) {
  cells.x[threadIdx.x] = threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void second(Cells cells) {
  if (threadIdx.x == 0) {
    cudaGridDependencySynchronize();
  }
  __syncthreads();
  cells.out[threadIdx.x] = cells.x[threadIdx.x ^ 32];
}

int main() {
  return run_dependent(first, second);
}
