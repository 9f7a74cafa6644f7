// CUB's BlockRadixSort as its sample uses it: each block loads a tile, sorts it in registers and
// shared memory, and stores it.
//
// expect: none
#include <algorithm>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>

#include "benchmark_program.h"

constexpr int kThreads = 64;
constexpr int kItems = 4;
constexpr int kTile = kThreads * kItems;

__global__ void __launch_bounds__(kThreads) sort_tiles(const int* keys, int* sorted) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, kThreads, kItems>;

  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
  } storage;

  int items[kItems];
  const int offset = blockIdx.x * kTile;
  Load(storage.load).Load(keys + offset, items);
  __syncthreads();
  Sort(storage.sort).SortBlockedToStriped(items);
  cub::StoreDirectStriped<kThreads>(threadIdx.x, sorted + offset, items);
}

int main(int argc, char** argv) {
  const int tiles = size_argument(argc, argv, 4);
  Random random(1);
  std::vector<int> keys(static_cast<std::size_t>(tiles) * kTile);
  for (int& key : keys) {
    key = static_cast<int>(random.next());
  }
  const DeviceArray<int> device_keys(keys);
  const DeviceArray<int> sorted(keys.size());
  sort_tiles<<<tiles, kThreads>>>(device_keys.data(), sorted.data());
  CUDA_CHECK(cudaGetLastError());
  for (auto tile = keys.begin(); tile != keys.end(); tile += kTile) {
    std::sort(tile, tile + kTile);
  }
  expect_equal("sorted", sorted.host(), keys);
  return result();
}
