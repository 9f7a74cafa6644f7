// The legacy default stream and a blocking stream wait for each other.
// expect: none
// weak: never
// result: x 592 out 0
#include "../cells.h"

__global__ void write(int* x, int value) {
  x[threadIdx.x] = value + threadIdx.x;
}

int main() {
  Cells cells;
  cudaStream_t stream;
  if (!make_cells(cells) || !succeeded(cudaStreamCreate(&stream))) {
    return 1;
  }
  write<<<1, 32, 0, stream>>>(cells.x, 1);
  write<<<1, 32>>>(cells.x, 2);
  write<<<1, 32, 0, stream>>>(cells.x, 3);
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
