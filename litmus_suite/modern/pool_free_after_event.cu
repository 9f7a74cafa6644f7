// Memory is freed in another stream than the one that uses it, which waits for that one's event.
// expect: none
// weak: never
// result: x 0 out 32
// flags: -g
#include "../pool_cells.h"

__global__ void fill(int* cells, int value) {
  cells[threadIdx.x] = value;
}

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
  fill<<<1, 32, 0, cells.streams[0]>>>(cells.first, 1);
  if (!pass_on(cells)) {
    return 1;
  }
  cudaFreeAsync(cells.first, cells.streams[1]);
  cudaMallocAsync(&cells.second, kPoolBytes, cells.streams[1]);
  fill_and_sum<<<1, 32, 0, cells.streams[1]>>>(cells.second, cells.out);
  cudaFreeAsync(cells.second, cells.streams[1]);
  return finish_pool(cells);
}
