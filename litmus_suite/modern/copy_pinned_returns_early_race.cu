// A copy to pinned memory may still run when it returns.
// expect: race kernel-copy global
// weak: never
// expect paper: none
// flags: -g
#include "../copy_cells.h"

__global__ void write(int* x, int value) {
  x[threadIdx.x] = value + threadIdx.x;  // RACE
}

int main() {
  CopyCells cells;
  if (!make_copy_cells(cells)) {
    return 1;
  }
  cudaMemcpyAsync(cells.pinned, cells.x, 128, cudaMemcpyDeviceToHost, cells.streams[1]);  // RACE
  write<<<1, 32, 0, cells.streams[0]>>>(cells.x, 1);
  return finish_copies(cells);
}
