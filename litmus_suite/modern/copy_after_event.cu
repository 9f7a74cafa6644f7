// The copy waits for an event behind the kernel.
// expect: none
// weak: never
// result: x 528 out 0
#include "../copy_cells.h"

__global__ void write(int* x, int value) {
  x[threadIdx.x] = value + threadIdx.x;
}

int main() {
  CopyCells cells;
  if (!make_copy_cells(cells)) {
    return 1;
  }
  write<<<1, 32, 0, cells.streams[0]>>>(cells.x, 1);
  if (!pass_on(cells)) {
    return 1;
  }
  cudaMemcpyAsync(cells.pinned, cells.x, 128, cudaMemcpyDeviceToHost, cells.streams[1]);
  return finish_copies(cells);
}
