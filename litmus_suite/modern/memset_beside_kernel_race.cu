// A memset of one stream and a kernel of another write the same words.
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
  cudaMemsetAsync(cells.x, 0, 128, cells.streams[1]);  // RACE
  return finish_copies(cells);
}
