// A copy to pageable memory returns when it is done: what is launched then comes after it.
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
  static int host[32];
  cudaMemcpyAsync(host, cells.x, sizeof host, cudaMemcpyDeviceToHost, cells.streams[1]);
  write<<<1, 32, 0, cells.streams[0]>>>(cells.x, 1);
  return finish_copies(cells);
}
