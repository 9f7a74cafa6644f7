// The last-block sum as NVIDIA's threadFenceReduction sample has it: a fence before the ticket and
// none after it. The writing side releases, the reading side never acquires: by the PTX memory
// model the block that drew the last ticket may still read stale sums (docs/RACES.md).
//
// expect paper: none
// expect: race inter-block global
#include "cuda_check.h"

constexpr int kThreads = 64;

__device__ unsigned int tickets = 0;

// Adds up a block's values and leaves the sum in partial[0].
__device__ int block_sum(int value, int* partial) {
  partial[threadIdx.x] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    __syncthreads();
  }
  return partial[0];
}

__global__ void sum_all(const int* values, int* block_sums, int* result) {
  __shared__ int partial[kThreads];
  __shared__ bool is_last;
  const int sum = block_sum(values[blockIdx.x * kThreads + threadIdx.x], partial);
  if (threadIdx.x == 0) {
    block_sums[blockIdx.x] = sum;  // RACE
    __threadfence();
    const unsigned int ticket = atomicAdd(&tickets, 1);
    is_last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last) {
    const int mine = threadIdx.x < gridDim.x ? block_sums[threadIdx.x] : 0;  // RACE
    const int total = block_sum(mine, partial);
    if (threadIdx.x == 0) {
      *result = total;
      tickets = 0;  // whoever drew the last ticket may reset the counter with a plain store
    }
  }
}

int main() {
  constexpr int kBlocks = 8;
  constexpr int kCount = kBlocks * kThreads;
  int values[kCount];
  for (int i = 0; i < kCount; ++i) {
    values[i] = i;
  }
  int *device_values, *device_sums, *device_result;
  CUDA_CHECK(cudaMalloc(&device_values, sizeof values));
  CUDA_CHECK(cudaMalloc(&device_sums, kBlocks * sizeof(int)));
  CUDA_CHECK(cudaMalloc(&device_result, sizeof(int)));
  CUDA_CHECK(cudaMemcpy(device_values, values, sizeof values, cudaMemcpyHostToDevice));
  long long result = 0;
  for (int round = 0; round < 2; ++round) {
    sum_all<<<kBlocks, kThreads>>>(device_values, device_sums, device_result);
    int sum;
    CUDA_CHECK(cudaMemcpy(&sum, device_result, sizeof sum, cudaMemcpyDeviceToHost));
    result += sum;
  }
  finish(result == 1LL * kCount * (kCount - 1), result);
  return 0;
}
