// A copy to pinned memory reads what a kernel of another stream writes.
// expect: race kernel-copy global
// weak: never
// expect paper: none
// missing: no stream order, event or synchronisation between
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
  cudaMemcpyAsync(cells.pinned, cells.x, 128, cudaMemcpyDeviceToHost, cells.streams[1]);  // RACE
  return finish_copies(cells);
}
