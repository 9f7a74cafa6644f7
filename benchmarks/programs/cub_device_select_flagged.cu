// CUB's DeviceSelect::Flagged: keeps the values whose flag is set, in order.
//
// expect: none
#include <algorithm>
#include <cub/device/device_select.cuh>

#include "cub_call.h"

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 20000);
  Random random(6);
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
    return cub::DeviceSelect::Flagged(storage, bytes, device_values.data(), device_flags.data(),
                                      selected.data(), selected_count.data(), count);
  });
  std::vector<int> expected;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (flags[i] != 0) {
      expected.push_back(values[i]);
    }
  }
  const int chosen = selected_count.host()[0];
  std::vector<int> actual = selected.host();
  actual.resize(static_cast<std::size_t>(chosen));
  expect_equal("selected", actual, expected);
  return result();
}
