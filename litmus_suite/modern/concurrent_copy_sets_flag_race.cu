// A kernel polls a flag that a copy in another stream sets: no access of the two is atomic for the
// other.
// expect: race kernel-copy global
// expect paper: none
// result: x 0 out 1
// weak: never
// flags: -g
#include "../copy_cells.h"

__global__ void wait(volatile int* flag, int* out) {
  while (*flag == 0) {  // RACE
  }
  out[0] = 1;
}

int main() {
  CopyCells cells;
  if (!make_copy_cells(cells)) {
    return 1;
  }
  cells.pinned[0] = 1;
  wait<<<1, 1, 0, cells.streams[0]>>>(cells.flag, cells.out);
  cudaMemcpyAsync(cells.flag, cells.pinned, 4, cudaMemcpyHostToDevice, cells.streams[1]);  // RACE
  return finish_copies(cells);
}
