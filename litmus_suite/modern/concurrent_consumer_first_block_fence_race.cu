// A kernel waits for a flag that one of another stream, launched later, sets: its fence is for its
// block only.
// expect: race inter-kernel global
// weak: fails
#include "../cells.h"

__global__ void consume(int* x, int* flag, int* out) {
  while (atomicAdd(flag, 0) == 0) {
  }
  __threadfence();
  out[0] = x[0];  // RACE
}

__global__ void produce(int* x, int* flag) {
  x[0] = 42;  // RACE
  __threadfence_block();
  atomicExch(flag, 1);
}

int main() {
  Cells cells;
  cudaStream_t streams[2];
  cudaFuncAttributes known;  // loads the kernel, which would wait for the other at its first launch
  if (!make_cells(cells) || !succeeded(cudaFuncGetAttributes(&known, produce)) ||
      !succeeded(cudaStreamCreate(&streams[0])) || !succeeded(cudaStreamCreate(&streams[1]))) {
    return 1;
  }
  consume<<<1, 1, 0, streams[0]>>>(cells.x, cells.flag, cells.out);
  produce<<<1, 1, 0, streams[1]>>>(cells.x, cells.flag);
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
