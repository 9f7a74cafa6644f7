// CUB's DeviceSelect::If: keeps the values below a bound, in order.
//
// expect: none
#include <algorithm>
#include <cub/device/device_select.cuh>

#include "cub_call.h"

struct Below {
  int bound;

  __host__ __device__ bool operator()(int value) const { return value < bound; }
};

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 20000);
  Random random(8);
  std::vector<int> values(static_cast<std::size_t>(count));
  for (int& value : values) {
    value = random.below(1000);
  }
  const DeviceArray<int> device_values(values);
  const Below below{300};
  const DeviceArray<int> selected(values.size());
  const DeviceArray<int> selected_count(1);
  cub_call([&](void* storage, std::size_t& bytes) {
    return cub::DeviceSelect::If(storage, bytes, device_values.data(), selected.data(),
                                 selected_count.data(), count, below);
  });
  std::vector<int> expected;
  std::copy_if(values.begin(), values.end(), std::back_inserter(expected), below);
  const int chosen = selected_count.host()[0];
  std::vector<int> actual = selected.host();
  actual.resize(static_cast<std::size_t>(chosen));
  expect_equal("selected", actual, expected);
  return result();
}
