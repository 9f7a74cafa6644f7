// CUB's DevicePartition::Flagged: the flagged values first, in order, the others last, reversed.
//
// expect: none
#include <algorithm>
#include <cub/device/device_partition.cuh>

#include "cub_call.h"

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 20000);
  Random random(7);
  std::vector<int> values(static_cast<std::size_t>(count));
  std::vector<char> flags(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = random.below(1000000);
    flags[i] = static_cast<char>(random.below(3) == 0);
  }
  const DeviceArray<int> device_values(values);
  const DeviceArray<char> device_flags(flags);
  const DeviceArray<int> selected(values.size());
  const DeviceArray<int> selected_count(1);
  cub_call([&](void* storage, std::size_t& bytes) {
    return cub::DevicePartition::Flagged(storage, bytes, device_values.data(), device_flags.data(),
                                         selected.data(), selected_count.data(), count);
  });
  std::vector<int> expected;
  std::vector<int> others;
  for (std::size_t i = 0; i < values.size(); ++i) {
    (flags[i] != 0 ? expected : others).push_back(values[i]);
  }
  expect_equal("count", selected_count.host()[0], static_cast<int>(expected.size()));
  expected.insert(expected.end(), others.rbegin(), others.rend());
  expect_equal("partition", selected.host(), expected);
  return result();
}
