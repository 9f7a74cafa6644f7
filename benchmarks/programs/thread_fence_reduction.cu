// NVIDIA's threadFenceReduction sample: each block sums its part, the block that draws the last
// ticket sums the blocks' sums. The last 32 values are added by a warp that relies on its lanes
// running together; a fence stands before the ticket and none after it.
//
// expect: race
#include "benchmark_program.h"

constexpr int kThreads = 128;

__device__ unsigned int g_tickets = 0;

__device__ float sum_of_block(float mine, volatile float* partial) {
  const int i = threadIdx.x;
  partial[i] = mine;
  __syncthreads();
  for (int half = kThreads / 2; half > 32; half /= 2) {
    if (i < half) {
      partial[i] = mine = mine + partial[i + half];
    }
    __syncthreads();
  }
  if (i < 32) {
    partial[i] = mine = mine + partial[i + 32];  // RACE
    partial[i] = mine = mine + partial[i + 16];  // RACE
    partial[i] = mine = mine + partial[i + 8];   // RACE
    partial[i] = mine = mine + partial[i + 4];   // RACE
    partial[i] = mine = mine + partial[i + 2];   // RACE
    partial[i] = mine = mine + partial[i + 1];   // RACE
  }
  return mine;
}

__global__ void sum_all(const float* values, float* block_sums, int count) {
  volatile __shared__ float partial[kThreads];
  __shared__ bool is_last;
  float mine = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) {
    mine += values[i];
  }
  const float sum = sum_of_block(mine, partial);
  if (threadIdx.x == 0) {
    block_sums[blockIdx.x] = sum;  // RACE
    __threadfence();
    is_last = atomicInc(&g_tickets, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last) {
    mine = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += kThreads) {
      mine += block_sums[i];  // RACE
    }
    const float total = sum_of_block(mine, partial);
    if (threadIdx.x == 0) {
      block_sums[0] = total;  // RACE
      g_tickets = 0;
    }
  }
}

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 16384);
  constexpr int kBlocks = 16;
  Random random(34);
  std::vector<float> values(static_cast<std::size_t>(count));
  double expected = 0;
  for (float& value : values) {
    value = static_cast<float>(random.below(16));  // sums stay exact
    expected += value;
  }
  const DeviceArray<float> device_values(values);
  const DeviceArray<float> block_sums(kBlocks);
  for (int round = 0; round < 2; ++round) {
    sum_all<<<kBlocks, kThreads>>>(device_values.data(), block_sums.data(), count);
    CUDA_CHECK(cudaGetLastError());
    expect_equal("sum", block_sums.host()[0], static_cast<float>(expected));
  }
  return result();
}
