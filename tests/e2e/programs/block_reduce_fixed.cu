// Two sums by cub::BlockReduce with the barrier between them that their storage needs.
// expect: none
#include <cub/block/block_reduce.cuh>

#include "../../../examples/cuda_check.h"

constexpr int kThreads = 128;

__global__ void two_sums(const int* values, int* sums) {
  using Reduce = cub::BlockReduce<int, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const int value = values[blockIdx.x * kThreads + threadIdx.x];
  const int first = Reduce(storage).Sum(value);
  __syncthreads();
  const int second = Reduce(storage).Sum(value * value);
  if (threadIdx.x == 0) {
    sums[blockIdx.x * 2] = first;
    sums[blockIdx.x * 2 + 1] = second;
  }
}

int main() {
  constexpr int kBlocks = 2;
  constexpr int kCount = kBlocks * kThreads;
  int values[kCount];
  for (int i = 0; i < kCount; ++i) {
    values[i] = i;
  }
  int *device_values, *device_sums;
  CUDA_CHECK(cudaMalloc(&device_values, sizeof values));
  CUDA_CHECK(cudaMalloc(&device_sums, 2 * kBlocks * sizeof(int)));
  CUDA_CHECK(cudaMemcpy(device_values, values, sizeof values, cudaMemcpyHostToDevice));
  two_sums<<<kBlocks, kThreads>>>(device_values, device_sums);
  int sums[2 * kBlocks];
  CUDA_CHECK(cudaMemcpy(sums, device_sums, sizeof sums, cudaMemcpyDeviceToHost));
  long long total = 0;
  for (int sum : sums) {
    total += sum;
  }
  CUDA_CHECK(cudaFree(device_values));
  CUDA_CHECK(cudaFree(device_sums));
  return finish(total == 5592320, total);
}
