// CUB's radix sort in one sweep, whose blocks wait for each other by volatile words, which is left
// out, and with the argument `race` a race of the program's own, which is not.
//
// expect sorts: none
// expect shown: race inter-block global
// expect: race inter-block global
#include <cstring>
#include <cub/device/device_radix_sort.cuh>
#include <vector>

#include "../../../examples/cuda_check.h"

__global__ void count(const unsigned int* keys, unsigned int* odd) {
  if (keys[blockIdx.x] % 2 == 1) {
    *odd += 1;  // RACE
  }
}

int main(int argc, char** argv) {
  constexpr int kCount = 20000;
  std::vector<unsigned int> keys(kCount);
  for (int i = 0; i < kCount; ++i) {
    keys[i] = static_cast<unsigned int>(i) * 2654435761U;
  }
  unsigned int *device_keys, *sorted, *odd;
  CUDA_CHECK(cudaMalloc(&device_keys, kCount * sizeof(unsigned int)));
  CUDA_CHECK(cudaMalloc(&sorted, kCount * sizeof(unsigned int)));
  CUDA_CHECK(cudaMalloc(&odd, sizeof(unsigned int)));
  CUDA_CHECK(
      cudaMemcpy(device_keys, keys.data(), kCount * sizeof(unsigned int), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemset(odd, 0, sizeof(unsigned int)));

  std::size_t bytes = 0;
  CUDA_CHECK(cub::DeviceRadixSort::SortKeys(nullptr, bytes, device_keys, sorted, kCount));
  void* storage;
  CUDA_CHECK(cudaMalloc(&storage, bytes));
  CUDA_CHECK(cub::DeviceRadixSort::SortKeys(storage, bytes, device_keys, sorted, kCount));
  if (argc > 1 && std::strcmp(argv[1], "race") == 0) {
    count<<<64, 1>>>(sorted, odd);
  }
  CUDA_CHECK(
      cudaMemcpy(keys.data(), sorted, kCount * sizeof(unsigned int), cudaMemcpyDeviceToHost));
  bool in_order = true;
  for (int i = 1; i < kCount; ++i) {
    in_order = in_order && keys[i - 1] <= keys[i];
  }
  CUDA_CHECK(cudaFree(storage));
  CUDA_CHECK(cudaFree(odd));
  CUDA_CHECK(cudaFree(sorted));
  CUDA_CHECK(cudaFree(device_keys));
  return finish(in_order, keys[kCount - 1]);
}
