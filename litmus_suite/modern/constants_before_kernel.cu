// Constants are copied before the kernel that reads them, and again behind an event of it.
// expect: none
// weak: never
// result: x 64 out 0
// flags: -g
#include "../copy_cells.h"

__constant__ int coefficients[32];

__global__ void scale(int* x) {
  x[threadIdx.x] = coefficients[threadIdx.x] + 1;
}

int main() {
  CopyCells cells;
  if (!make_copy_cells(cells)) {
    return 1;
  }
  for (int i = 0; i < 32; ++i) {
    cells.pinned[i] = 1;
  }
  cudaMemcpyToSymbolAsync(coefficients, cells.pinned, 128, 0, cudaMemcpyHostToDevice,
                          cells.streams[0]);
  scale<<<1, 32, 0, cells.streams[0]>>>(cells.x);
  if (!pass_on(cells)) {
    return 1;
  }
  cudaMemcpyToSymbolAsync(coefficients, cells.pinned, 64, 0, cudaMemcpyHostToDevice,
                          cells.streams[1]);
  return finish_copies(cells);
}
