// A three-point stencil from one array into another.
// expect: none
#include "cuda_check.h"

__global__ void smooth(const int* cells, int* smoothed, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i + 1 < count) {
    const int sum = cells[i - 1] + cells[i] + cells[i + 1];
    smoothed[i] = sum / 3;
  }
}

int main() {
  constexpr int kCount = 600;
  int cells[kCount];
  for (int i = 0; i < kCount; ++i) {
    cells[i] = 3 * i;
  }
  int* device_cells;
  CUDA_CHECK(cudaMalloc(&device_cells, sizeof cells));
  CUDA_CHECK(cudaMemcpy(device_cells, cells, sizeof cells, cudaMemcpyHostToDevice));
  int* device_smoothed;
  CUDA_CHECK(cudaMalloc(&device_smoothed, sizeof cells));
  CUDA_CHECK(cudaMemcpy(device_smoothed, cells, sizeof cells, cudaMemcpyHostToDevice));
  smooth<<<(kCount + 255) / 256, 256>>>(device_cells, device_smoothed, kCount);
  CUDA_CHECK(cudaMemcpy(cells, device_smoothed, sizeof cells, cudaMemcpyDeviceToHost));
  long long total = 0;
  for (int cell : cells) {
    total += cell;
  }
  return finish(total == 3LL * kCount * (kCount - 1) / 2, total);
}
