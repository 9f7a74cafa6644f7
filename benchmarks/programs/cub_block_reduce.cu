// CUB's BlockReduce with each of its three algorithms.
//
// expect: none
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <numeric>

#include "benchmark_program.h"

constexpr int kThreads = 128;
constexpr int kItems = 4;
constexpr int kTile = kThreads * kItems;

template <cub::BlockReduceAlgorithm kAlgorithm>
__global__ void __launch_bounds__(kThreads) reduce_tiles(const int* values, int* sums) {
  using Reduce = cub::BlockReduce<int, kThreads, kAlgorithm>;
  __shared__ typename Reduce::TempStorage storage;
  int items[kItems];
  cub::LoadDirectStriped<kThreads>(threadIdx.x, values + blockIdx.x * kTile, items);
  const int sum = Reduce(storage).Sum(items);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

template <cub::BlockReduceAlgorithm kAlgorithm>
void check(const char* name, const DeviceArray<int>& values, const std::vector<int>& expected) {
  const DeviceArray<int> sums(expected.size());
  reduce_tiles<kAlgorithm><<<expected.size(), kThreads>>>(values.data(), sums.data());
  CUDA_CHECK(cudaGetLastError());
  expect_equal(name, sums.host(), expected);
}

int main(int argc, char** argv) {
  const int tiles = size_argument(argc, argv, 8);
  Random random(2);
  std::vector<int> values(static_cast<std::size_t>(tiles) * kTile);
  for (int& value : values) {
    value = random.below(1000);
  }
  std::vector<int> expected;
  for (auto tile = values.begin(); tile != values.end(); tile += kTile) {
    expected.push_back(std::accumulate(tile, tile + kTile, 0));
  }
  const DeviceArray<int> device_values(values);
  check<cub::BLOCK_REDUCE_RAKING>("raking", device_values, expected);
  check<cub::BLOCK_REDUCE_WARP_REDUCTIONS>("warp reductions", device_values, expected);
  check<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>("raking commutative", device_values, expected);
  return result();
}
