// cudaMemcpy is in the order of the default stream, as the kernel is.
// expect: none
// weak: never
// result: x 528 out 528
#include "../copy_cells.h"

__global__ void write(int* x, int value) {
  x[threadIdx.x] = value + threadIdx.x;
}

int main() {
  CopyCells cells;
  if (!make_copy_cells(cells)) {
    return 1;
  }
  write<<<1, 32>>>(cells.x, 1);
  cudaMemcpy(cells.out, cells.x, 128, cudaMemcpyDeviceToDevice);
  return finish_copies(cells);
}
