// Kernels of two streams read the same words.
// expect: none
// weak: never
// result: x 0 out 64
#include "../cells.h"

__global__ void copy(const int* x, int* out) {
  out[threadIdx.x] = x[threadIdx.x] + 1;
}

int main() {
  Cells cells;
  cudaStream_t streams[2];
  if (!make_cells(cells) || !succeeded(cudaStreamCreate(&streams[0])) ||
      !succeeded(cudaStreamCreate(&streams[1]))) {
    return 1;
  }
  copy<<<1, 32, 0, streams[0]>>>(cells.x, cells.out);
  copy<<<1, 32, 0, streams[1]>>>(cells.x, cells.out + 32);
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
