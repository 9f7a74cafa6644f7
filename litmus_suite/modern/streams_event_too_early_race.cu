// The event is recorded before the kernel that it should announce.
// expect: race inter-kernel global
// weak: never
#include "../cells.h"

__global__ void write(int* x, int value) {
  x[threadIdx.x] = value + threadIdx.x;  // RACE
}

int main() {
  Cells cells;
  cudaStream_t streams[2];
  cudaEvent_t written;
  if (!make_cells(cells) || !succeeded(cudaStreamCreate(&streams[0])) ||
      !succeeded(cudaStreamCreate(&streams[1])) || !succeeded(cudaEventCreate(&written)) ||
      !succeeded(cudaEventRecord(written, streams[0]))) {
    return 1;
  }
  write<<<1, 32, 0, streams[0]>>>(cells.x, 1);
  if (!succeeded(cudaStreamWaitEvent(streams[1], written, 0))) {
    return 1;
  }
  write<<<1, 32, 0, streams[1]>>>(cells.x, 2);
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
