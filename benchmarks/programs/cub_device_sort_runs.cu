// CUB's DeviceRadixSort of key-value pairs, then DeviceRunLengthEncode::NonTrivialRuns of the
// sorted keys: where equal keys lie together, and how many. CUB's sort keeps its look-back cells in
// volatile words, and its run search lets all lanes without a result store to one slot that nobody
// reads.
//
// expect by default: none
// expect: race intra-warp shared
// races in: warp_exchange_smem.cuh thread_load.cuh thread_store.cuh
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <numeric>

#include "cub_call.h"

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 10000);
  Random random(10);
  std::vector<unsigned int> keys(static_cast<std::size_t>(count));
  std::vector<int> values(keys.size());
  std::iota(values.begin(), values.end(), 0);
  for (unsigned int& key : keys) {
    key = static_cast<unsigned int>(random.below(count / 2 + 1));
  }
  const DeviceArray<unsigned int> device_keys(keys);
  const DeviceArray<int> device_values(values);
  const DeviceArray<unsigned int> sorted_keys(keys.size());
  const DeviceArray<int> sorted_values(keys.size());
  cub_call([&](void* storage, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(storage, bytes, device_keys.data(), sorted_keys.data(),
                                           device_values.data(), sorted_values.data(), count);
  });
  const DeviceArray<int> offsets(keys.size());
  const DeviceArray<int> lengths(keys.size());
  const DeviceArray<int> run_count(1);
  cub_call([&](void* storage, std::size_t& bytes) {
    return cub::DeviceRunLengthEncode::NonTrivialRuns(storage, bytes, sorted_keys.data(),
                                                      offsets.data(), lengths.data(),
                                                      run_count.data(), count);
  });

  std::stable_sort(values.begin(), values.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  expect_equal("values", sorted_values.host(), values);
  std::sort(keys.begin(), keys.end());
  expect_equal("keys", sorted_keys.host(), keys);
  std::vector<int> expected_offsets;
  std::vector<int> expected_lengths;
  for (int start = 0; start < count;) {
    int end = start;
    while (end < count && keys[end] == keys[start]) {
      ++end;
    }
    if (end - start > 1) {
      expected_offsets.push_back(start);
      expected_lengths.push_back(end - start);
    }
    start = end;
  }
  const auto runs = static_cast<std::size_t>(run_count.host()[0]);
  std::vector<int> actual_offsets = offsets.host();
  std::vector<int> actual_lengths = lengths.host();
  actual_offsets.resize(runs);
  actual_lengths.resize(runs);
  expect_equal("offsets", actual_offsets, expected_offsets);
  expect_equal("lengths", actual_lengths, expected_lengths);
  return result();
}
