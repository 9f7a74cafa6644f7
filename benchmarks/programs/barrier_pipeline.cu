// libcu++: tiles travel through a two-stage cuda::pipeline of memcpy_async copies into shared
// memory, and through a cuda::barrier that a copy completes, while the tile before is worked on.
//
// expect: none
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "benchmark_program.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 64;
constexpr int kStages = 2;
using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

// Each tile is added to its reverse, so that threads read what others copied.
__device__ int folded(const int* tile) {
  return tile[threadIdx.x] + tile[kThreads - 1 - threadIdx.x];
}

// The kernels initialise what nvcc warns that it does not.
#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void fold_through_pipeline(const int* values, int* sums, int tiles) {
  __shared__ int stage[kStages][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const cg::thread_block block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const int* from = values + blockIdx.x * tiles * kThreads;
  int sum = 0;
  int fetched = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    for (; fetched < tiles && fetched < tile + kStages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, stage[fetched % kStages], from + fetched * kThreads,
                         cuda::aligned_size_t<16>(sizeof stage[0]), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += folded(stage[tile % kStages]);
    pipeline.consumer_release();
  }
  sums[blockIdx.x * kThreads + threadIdx.x] = sum;
}

__global__ void fold_through_barrier(const int* values, int* sums, int tiles) {
  __shared__ alignas(16) int tile_values[kThreads];
  __shared__ BlockBarrier barrier;
  const cg::thread_block block = cg::this_thread_block();
  if (threadIdx.x == 0) {
    init(&barrier, kThreads);
  }
  block.sync();
  const int* from = values + blockIdx.x * tiles * kThreads;
  int sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    cuda::memcpy_async(block, tile_values, from + tile * kThreads, sizeof tile_values, barrier);
    barrier.arrive_and_wait();
    sum += folded(tile_values);
    barrier.arrive_and_wait();
  }
  sums[blockIdx.x * kThreads + threadIdx.x] = sum;
}

int main(int argc, char** argv) {
  const int tiles = size_argument(argc, argv, 6);
  constexpr int kBlocks = 3;
  Random random(37);
  std::vector<int> values(static_cast<std::size_t>(kBlocks) * tiles * kThreads);
  for (int& value : values) {
    value = random.below(1000);
  }
  std::vector<int> expected(kBlocks * kThreads);
  for (int block = 0; block < kBlocks; ++block) {
    for (int tile = 0; tile < tiles; ++tile) {
      const int* from = &values[(block * tiles + tile) * kThreads];
      for (int i = 0; i < kThreads; ++i) {
        expected[block * kThreads + i] += from[i] + from[kThreads - 1 - i];
      }
    }
  }
  const DeviceArray<int> device_values(values);
  const DeviceArray<int> sums(expected.size());
  fold_through_pipeline<<<kBlocks, kThreads>>>(device_values.data(), sums.data(), tiles);
  CUDA_CHECK(cudaGetLastError());
  expect_equal("pipeline", sums.host(), expected);
  fold_through_barrier<<<kBlocks, kThreads>>>(device_values.data(), sums.data(), tiles);
  CUDA_CHECK(cudaGetLastError());
  expect_equal("barrier", sums.host(), expected);
  return result();
}
