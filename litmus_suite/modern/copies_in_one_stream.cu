// Copies of one stream are in order, whoever comes between.
// expect: none
// weak: never
// result: x 0 out 528
#include "../copy_cells.h"

__global__ void write(int* x, int value) {
  x[threadIdx.x] = value + threadIdx.x;
}

int main() {
  CopyCells cells;
  if (!make_copy_cells(cells)) {
    return 1;
  }
  write<<<1, 32, 0, cells.streams[0]>>>(cells.out, 1);
  cudaMemsetAsync(cells.pinned, 0, kCellBytes, cells.streams[1]);
  cudaMemcpyAsync(cells.x, cells.pinned, 128, cudaMemcpyHostToDevice, cells.streams[1]);
  cudaMemcpyAsync(cells.pinned, cells.x, 128, cudaMemcpyDeviceToHost, cells.streams[1]);
  return finish_copies(cells);
}
