// Like NVIDIA's reductionMultiBlockCG sample: blocks add up their part, the grid meets, and one
// block adds up the blocks' sums, in one cooperative launch. What is summed is how many values lie
// below a bound; bit by bit the bounds become the octiles of the values. SIZE is the values.
//
// expect: none
#include <algorithm>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "benchmark_program.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 256;
constexpr int kBits = 32;
constexpr int kOctiles = 7;

// For thread 0. `warp_sums` is free for use again only after a barrier.
__device__ unsigned sum_of_block(const cg::thread_block& block, unsigned mine,
                                 unsigned* warp_sums) {
  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const unsigned sum = cg::reduce(warp, mine, cg::plus<unsigned>());
  if (warp.thread_rank() == 0) {
    warp_sums[warp.meta_group_rank()] = sum;
  }
  block.sync();
  unsigned total = 0;
  if (block.thread_rank() == 0) {
    for (unsigned i = 0; i < kThreads / 32; ++i) {
      total += warp_sums[i];
    }
  }
  return total;
}

__global__ void find_octiles(const unsigned* values, unsigned* block_sums, unsigned* total,
                             unsigned* octiles, int count) {
  __shared__ unsigned warp_sums[kThreads / 32];
  const cg::grid_group grid = cg::this_grid();
  const cg::thread_block block = cg::this_thread_block();
  const auto rank = static_cast<unsigned>(grid.thread_rank());
  for (unsigned octile = 0; octile < kOctiles; ++octile) {
    const unsigned wanted = count / (kOctiles + 1) * (octile + 1);
    unsigned found = 0;  // the largest bound with at most `wanted` values below it
    for (int bit = kBits - 1; bit >= 0; --bit) {
      const unsigned bound = found | 1U << bit;
      unsigned below = 0;
      for (unsigned i = rank; i < count; i += static_cast<unsigned>(grid.size())) {
        below += values[i] < bound ? 1 : 0;
      }
      const unsigned sum = sum_of_block(block, below, warp_sums);
      if (block.thread_rank() == 0) {
        block_sums[blockIdx.x] = sum;
      }
      grid.sync();
      if (blockIdx.x == 0) {
        unsigned mine = 0;
        for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) {
          mine += block_sums[i];
        }
        const unsigned sum_of_all = sum_of_block(block, mine, warp_sums);
        if (rank == 0) {
          *total = sum_of_all;
        }
      }
      grid.sync();
      if (*total <= wanted) {
        found = bound;
      }
    }
    if (rank == 0) {
      octiles[octile] = found;
    }
  }
}

int main(int argc, char** argv) {
  int count = size_argument(argc, argv, 3000);
  // Multiples of `step`, each once, in strides of a prime.
  const unsigned step = UINT32_MAX / count;
  const std::uint64_t stride = 2654435761U % count;
  std::vector<unsigned> values(static_cast<std::size_t>(count));
  std::uint64_t place = 0;
  for (unsigned& value : values) {
    value = static_cast<unsigned>(place) * step;
    place = (place + stride) % count;
  }
  int processors = 0;
  int blocks_of_processor = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_of_processor, &find_octiles,
                                                           kThreads, 0));
  const int blocks =
      std::min(processors * blocks_of_processor, (count + 4 * kThreads - 1) / (4 * kThreads));
  const DeviceArray<unsigned> device_values(values);
  const DeviceArray<unsigned> block_sums(static_cast<std::size_t>(blocks));
  const DeviceArray<unsigned> total(1);
  const DeviceArray<unsigned> octiles(kOctiles);
  unsigned* pointers[] = {device_values.data(), block_sums.data(), total.data(), octiles.data()};
  void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3], &count};
  CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&find_octiles), blocks,
                                         kThreads, arguments, 0, nullptr));
  CUDA_CHECK(cudaDeviceSynchronize());

  std::vector<unsigned> expected;
  for (int octile = 1; octile <= kOctiles; ++octile) {
    expected.push_back(count / (kOctiles + 1) * octile * step);
  }
  expect_equal("octile", octiles.host(), expected);
  return result();
}
