// Kernels of two streams write the same words.
// expect: race inter-kernel global
// weak: never
// missing: no stream order, event or synchronisation between launch
#include "../cells.h"

__global__ void write(int* x, int value) {
  x[threadIdx.x] = value + threadIdx.x;  // RACE
}

int main() {
  Cells cells;
  cudaStream_t streams[2];
  if (!make_cells(cells) || !succeeded(cudaStreamCreate(&streams[0])) ||
      !succeeded(cudaStreamCreate(&streams[1]))) {
    return 1;
  }
  write<<<1, 32, 0, streams[0]>>>(cells.x, 1);
  write<<<1, 32, 0, streams[1]>>>(cells.x, 2);
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
