// The host does not wait for cudaMemset, and a stream that does not block waits for no other.
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
  cudaMemset(cells.x, 0, kCellBytes);  // RACE
  write<<<1, 32, 0, cells.streams[0]>>>(cells.x, 1);
  return finish_copies(cells);
}
