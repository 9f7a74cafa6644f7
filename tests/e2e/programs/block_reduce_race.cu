// Two sums by cub::BlockReduce share their storage, and no barrier stands between them: the second
// one's warps may write what the first one's thread still reads. The accesses are in recursive
// templates of CUB's; the finding is to be at the two lines below, and one.
// expect: race intra-block shared
// bugs: 1
#include <cub/block/block_reduce.cuh>

#include "../../../examples/cuda_check.h"

constexpr int kThreads = 128;

__global__ void two_sums(const int* values, int* sums) {
  using Reduce = cub::BlockReduce<int, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const int value = values[blockIdx.x * kThreads + threadIdx.x];
  const int first = Reduce(storage).Sum(value);           // RACE
  const int second = Reduce(storage).Sum(value * value);  // RACE
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
  finish(true, total);
  return 0;  // the result depends on the schedule
}
