// The rows that the copy reads lie beside what the kernel writes.
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
  cudaStream_t beside = cells.streams[1];
  int* to = cells.pinned;
  cudaMemcpy2DAsync(to, 32, cells.x + 32, 256, 32, 4, cudaMemcpyDefault, beside);
  return finish_copies(cells);
}
