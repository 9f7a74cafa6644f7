// Memory is allocated in the order of one stream and used in that of another.
// expect: race use-before-allocation global
// weak: never
// expect paper: none
// missing: no stream order, event or synchronisation between the allocation and launch
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
  cudaMallocAsync(&cells.first, kPoolBytes, cells.streams[0]);  // RACE
  fill<<<1, 32, 0, cells.streams[1]>>>(cells.first, 1);
  return finish_pool(cells);
}
