// A copy of rows of eight words reads some of what the kernel writes.
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
  write<<<1, 32, 0, cells.streams[0]>>>(cells.x, 1);
  cudaStream_t beside = cells.streams[1];
  int* to = cells.pinned;
  cudaMemcpy2DAsync(to, 32, cells.x + 24, 256, 32, 4, cudaMemcpyDefault, beside);  // RACE
  return finish_copies(cells);
}
