// Memory is freed in another stream than the one that still uses it.
// expect: race use-after-free global
// weak: never
// expect paper: none
// missing: no stream order, event or synchronisation between .*the free
// flags: -g
#include "../pool_cells.h"

__global__ void fill(int* cells, int value) {
  cells[threadIdx.x] = value;  // RACE
}

int main() {
  PoolCells cells;
  if (!make_pool_cells(cells)) {
    return 1;
  }
  cudaMallocAsync(&cells.first, kPoolBytes, cells.streams[0]);
  fill<<<1, 32, 0, cells.streams[0]>>>(cells.first, 1);
  cudaFreeAsync(cells.first, cells.streams[1]);  // RACE
  return finish_pool(cells);
}
