// A three-point stencil that updates its array in place: neighbours read what others write.
// expect: race inter-block global
// missing: must be written to a second array
#include "cuda_check.h"

__global__ void smooth(int* cells, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i + 1 < count) {
    const int sum = cells[i - 1] + cells[i] + cells[i + 1];  // RACE
    cells[i] = sum / 3;                                      // RACE
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
  smooth<<<(kCount + 255) / 256, 256>>>(device_cells, kCount);
  CUDA_CHECK(cudaMemcpy(cells, device_cells, sizeof cells, cudaMemcpyDeviceToHost));
  long long total = 0;
  for (int cell : cells) {
    total += cell;
  }
  finish(total == 3LL * kCount * (kCount - 1) / 2, total);
  return 0;
}
