// Sum of a block's elements in shared memory, with a barrier after every step.
// expect: none
#include "cuda_check.h"

constexpr int kThreads = 128;

__global__ void block_sum(const int* values, int* sums) {
  __shared__ int partial[kThreads];
  const int thread = threadIdx.x;
  partial[thread] = values[blockIdx.x * kThreads + thread];
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (thread < half) {
      partial[thread] += partial[thread + half];
    }
    __syncthreads();
  }
  if (thread == 0) {
    sums[blockIdx.x] = partial[0];
  }
}

int main() {
  constexpr int kBlocks = 4;
  constexpr int kCount = kBlocks * kThreads;
  int values[kCount];
  for (int i = 0; i < kCount; ++i) {
    values[i] = i;
  }
  int *device_values, *device_sums;
  CUDA_CHECK(cudaMalloc(&device_values, sizeof values));
  CUDA_CHECK(cudaMalloc(&device_sums, kBlocks * sizeof(int)));
  CUDA_CHECK(cudaMemcpy(device_values, values, sizeof values, cudaMemcpyHostToDevice));
  block_sum<<<kBlocks, kThreads>>>(device_values, device_sums);
  int sums[kBlocks];
  CUDA_CHECK(cudaMemcpy(sums, device_sums, sizeof sums, cudaMemcpyDeviceToHost));
  long long total = 0;
  for (int sum : sums) {
    total += sum;
  }
  CUDA_CHECK(cudaFree(device_values));
  CUDA_CHECK(cudaFree(device_sums));
  return finish(total == kCount * (kCount - 1) / 2, total);
}
