// A device function called through a pointer stores to a place of its own for each thread.
// expect: none
#include "cuda_check.h"

using Operation = void (*)(int*, int);

__device__ __noinline__ void store_double(int* cells, int i) {
  cells[i] = 2 * i;
}

__device__ __noinline__ void store_square(int* cells, int i) {
  cells[i] = i * i;
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
  return finish(total == kCount * (kCount - 1), total);
}
