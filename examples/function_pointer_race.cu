// A device function called through a pointer stores to one place for all blocks.
// expect: race inter-block global
#include "cuda_check.h"

using Operation = void (*)(int*, int);

__device__ __noinline__ void store_double(int* cells, int i) {
  cells[i % 32] = 2 * i;  // RACE
}

__device__ __noinline__ void store_square(int* cells, int i) {
  cells[i % 32] = i * i;
}

__device__ Operation operations[] = {store_double, store_square};

__global__ void apply(int which, int* cells) {
  operations[which](cells, blockIdx.x * blockDim.x + threadIdx.x);
}

int main() {
  constexpr int kCount = 128;
  int* device_cells;
  CUDA_CHECK(cudaMalloc(&device_cells, kCount * sizeof(int)));
  CUDA_CHECK(cudaMemset(device_cells, 0, kCount * sizeof(int)));
  apply<<<kCount / 32, 32>>>(0, device_cells);
  int cells[kCount];
  CUDA_CHECK(cudaMemcpy(cells, device_cells, sizeof cells, cudaMemcpyDeviceToHost));
  long long total = 0;
  for (int cell : cells) {
    total += cell;
  }
  finish(total > 0, total);
  return 0;
}
