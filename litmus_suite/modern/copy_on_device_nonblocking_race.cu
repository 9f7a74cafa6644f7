// cudaMemcpy within the device does not wait for a kernel of a stream that does not block.
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
  cudaMemcpy(cells.out, cells.x, 128, cudaMemcpyDeviceToDevice);  // RACE
  return finish_copies(cells);
}
