// Kernels of two streams take turns: each adds to the same word, behind the other's fence.
// expect: none
// result: x 40 out 0
// weak: never
#include "../cells.h"

__global__ void play(int* x, int* flag, int me) {
  for (int i = 0; i < 20; ++i) {
    while (atomicAdd(flag, 0) % 2 != me) {
    }
    __threadfence();
    x[0] += 1;
    __threadfence();
    atomicAdd(flag, 1);
  }
}

int main() {
  Cells cells;
  cudaStream_t streams[2];
  if (!make_cells(cells) || !succeeded(cudaStreamCreate(&streams[0])) ||
      !succeeded(cudaStreamCreate(&streams[1]))) {
    return 1;
  }
  play<<<1, 1, 0, streams[0]>>>(cells.x, cells.flag, 1);
  play<<<1, 1, 0, streams[1]>>>(cells.x, cells.flag, 0);
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
