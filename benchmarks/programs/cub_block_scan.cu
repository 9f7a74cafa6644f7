// CUB's BlockScan with each of its three algorithms: an exclusive sum of a tile, and its total.
//
// expect: none
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

#include "benchmark_program.h"

constexpr int kThreads = 128;
constexpr int kItems = 4;
constexpr int kTile = kThreads * kItems;

template <cub::BlockScanAlgorithm kAlgorithm>
__global__ void __launch_bounds__(kThreads) scan_tiles(const int* values, int* sums, int* totals) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, kThreads, kAlgorithm>;

  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
  } storage;

  const int offset = blockIdx.x * kTile;
  int items[kItems];
  Load(storage.load).Load(values + offset, items);
  __syncthreads();
  int total = 0;
  Scan(storage.scan).ExclusiveSum(items, items, total);
  __syncthreads();
  Store(storage.store).Store(sums + offset, items);
  if (threadIdx.x == 0) {
    totals[blockIdx.x] = total;
  }
}

template <cub::BlockScanAlgorithm kAlgorithm>
void check(const DeviceArray<int>& values, const std::vector<int>& expected_sums,
           const std::vector<int>& expected_totals) {
  const DeviceArray<int> sums(expected_sums.size());
  const DeviceArray<int> totals(expected_totals.size());
  scan_tiles<kAlgorithm>
      <<<expected_totals.size(), kThreads>>>(values.data(), sums.data(), totals.data());
  CUDA_CHECK(cudaGetLastError());
  expect_equal("sums", sums.host(), expected_sums);
  expect_equal("totals", totals.host(), expected_totals);
}

int main(int argc, char** argv) {
  const int tiles = size_argument(argc, argv, 4);
  Random random(3);
  std::vector<int> values(static_cast<std::size_t>(tiles) * kTile);
  std::vector<int> sums;
  std::vector<int> totals;
  int total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = random.below(1000);
    sums.push_back(total);
    total += values[i];
    if ((i + 1) % kTile == 0) {
      totals.push_back(total);
      total = 0;
    }
  }
  const DeviceArray<int> device_values(values);
  check<cub::BLOCK_SCAN_RAKING>(device_values, sums, totals);
  check<cub::BLOCK_SCAN_RAKING_MEMOIZE>(device_values, sums, totals);
  check<cub::BLOCK_SCAN_WARP_SCANS>(device_values, sums, totals);
  return result();
}
