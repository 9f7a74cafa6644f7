// Memory is allocated in the order of one stream and used in that of another, which waits for it.
// expect: none
// weak: never
// result: x 0 out 32
// flags: -g
#include "../pool_cells.h"

__global__ void fill_and_sum(int* cells, int* out) {
  cells[threadIdx.x] = 1;
  out[threadIdx.x] = cells[threadIdx.x];
}

int main() {
  PoolCells cells;
  if (!make_pool_cells(cells)) {
    return 1;
  }
  cudaMallocAsync(&cells.first, kPoolBytes, cells.streams[0]);
  if (!pass_on(cells)) {
    return 1;
  }
  fill_and_sum<<<1, 32, 0, cells.streams[1]>>>(cells.first, cells.out);
  cudaFreeAsync(cells.first, cells.streams[1]);
  return finish_pool(cells);
}
