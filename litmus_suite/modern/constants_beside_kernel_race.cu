// Constants are copied in one stream while a kernel of another may read them.
// expect: race kernel-copy global
// weak: never
// expect paper: none
// missing: no stream order, event or synchronisation between the launch of the kernel and the copy
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
  const cudaMemcpyKind kind = cudaMemcpyHostToDevice;
  scale<<<1, 32, 0, cells.streams[0]>>>(cells.x);                                       // RACE
  cudaMemcpyToSymbolAsync(coefficients, cells.pinned, 128, 0, kind, cells.streams[1]);  // RACE
  return finish_copies(cells);
}
