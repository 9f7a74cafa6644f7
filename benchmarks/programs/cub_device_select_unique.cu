// CUB's DeviceSelect::Unique: the first value of every run of equal ones.
//
// expect: none
#include <algorithm>
#include <cub/device/device_select.cuh>

#include "cub_call.h"

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 20000);
  Random random(9);
  std::vector<int> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = i == 0 || random.below(4) == 0 ? random.below(1000) : values[i - 1];
  }
  const DeviceArray<int> device_values(values);
  const DeviceArray<int> selected(values.size());
  const DeviceArray<int> selected_count(1);
  cub_call([&](void* storage, std::size_t& bytes) {
    return cub::DeviceSelect::Unique(storage, bytes, device_values.data(), selected.data(),
                                     selected_count.data(), count);
  });
  std::vector<int> expected;
  std::unique_copy(values.begin(), values.end(), std::back_inserter(expected));
  const int chosen = selected_count.host()[0];
  std::vector<int> actual = selected.host();
  actual.resize(static_cast<std::size_t>(chosen));
  expect_equal("selected", actual, expected);
  return result();
}
