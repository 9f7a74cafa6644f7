// Built without PTX: the kernel cannot run on the emulated device, and CUDA's error says so.
#include "check.h"

__global__ void store(int* to) {
  *to = 1;
}

int main() {
  int* cell;
  EXPECT(cudaMalloc(&cell, sizeof *cell) == cudaSuccess);
  store<<<1, 1>>>(cell);
  EXPECT(cudaGetLastError() == cudaErrorNoKernelImageForDevice);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  std::puts("ok");
}
