// A stream that does not block is not ordered with the legacy default stream.
// expect: race inter-kernel global
// weak: never
#include "../cells.h"

__global__ void write(int* x, int value) {
  x[threadIdx.x] = value + threadIdx.x;  // RACE
}

int main() {
  Cells cells;
  cudaStream_t stream;
  if (!make_cells(cells) || !succeeded(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) {
    return 1;
  }
  write<<<1, 32>>>(cells.x, 1);
  write<<<1, 32, 0, stream>>>(cells.x, 2);
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
