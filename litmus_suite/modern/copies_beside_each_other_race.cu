// Two copies of different streams: one writes what the other reads.
// expect: race kernel-copy global
// weak: never
// expect paper: none
// flags: -g
#include "../copy_cells.h"

__global__ void write(int* x, int value) {
  x[threadIdx.x] = value + threadIdx.x;
}

int main() {
  CopyCells cells;
  if (!make_copy_cells(cells)) {
    return 1;
  }
  write<<<1, 32>>>(cells.out, 1);
  cudaMemcpyAsync(cells.x, cells.pinned, 128, cudaMemcpyHostToDevice, cells.streams[0]);  // RACE
  cudaMemcpyAsync(cells.pinned, cells.x, 128, cudaMemcpyDeviceToHost, cells.streams[1]);  // RACE
  return finish_copies(cells);
}
