// A program whose kernel is machine code only (built with code=sm_90): there is no PTX to check.
#include <cuda_runtime.h>

__global__ void fill(int* cells) {
  cells[threadIdx.x] = threadIdx.x;
}

int main() {
  int* cells = nullptr;
  if (cudaMalloc(&cells, 32 * sizeof(int)) != cudaSuccess) {
    return 1;
  }
  fill<<<1, 32>>>(cells);
  cudaDeviceSynchronize();
  return 0;
}
