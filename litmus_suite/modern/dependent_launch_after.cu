// A launch after the second kernel comes after the first as well, which nobody waited for.
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
  cells.flag[threadIdx.x] = 1;
}

__global__ void third(Cells cells) {
  cells.out[threadIdx.x] = cells.x[threadIdx.x ^ 32];
}

int main() {
  Cells cells;
  if (!make_cells(cells)) {
    return 1;
  }
  first<<<1, 64>>>(cells);
  if (!launch_dependent(second, cells)) {
    return 1;
  }
  third<<<1, 64>>>(cells);
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
