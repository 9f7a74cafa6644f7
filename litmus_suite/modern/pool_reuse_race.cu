// The stream that freed memory while another used it gets the same bytes again, and uses them.
// expect: race inter-kernel global
// weak: never
// flags: -g
#include "../pool_cells.h"

__global__ void fill(int* cells, int value) {
  cells[threadIdx.x] = value;  // RACE
}

__global__ void fill_and_sum(int* cells, int* out) {
  cells[threadIdx.x] = 1;                 // RACE
  out[threadIdx.x] = cells[threadIdx.x];  // RACE
}

int main() {
  PoolCells cells;
  if (!make_pool_cells(cells)) {
    return 1;
  }
  cudaMallocAsync(&cells.first, kPoolBytes, cells.streams[0]);
  fill<<<1, 32, 0, cells.streams[0]>>>(cells.first, 1);
  cudaFreeAsync(cells.first, cells.streams[1]);                  // RACE
  cudaMallocAsync(&cells.second, kPoolBytes, cells.streams[1]);  // RACE
  fill_and_sum<<<1, 32, 0, cells.streams[1]>>>(cells.second, cells.out);
  return finish_pool(cells);
}
