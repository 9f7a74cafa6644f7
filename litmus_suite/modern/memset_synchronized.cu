// The host waits for the memset before it launches the kernel.
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
  cudaMemset(cells.x, 0, kCellBytes);
  if (!succeeded(cudaStreamSynchronize(nullptr))) {
    return 1;
  }
  write<<<1, 32, 0, cells.streams[0]>>>(cells.x, 1);
  return finish_copies(cells);
}
