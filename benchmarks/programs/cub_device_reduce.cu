// CUB's DeviceReduce: sum and arg-min of an array, in one block and in several.
//
// expect: none
#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <numeric>

#include "cub_call.h"

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 30000);
  Random random(4);
  std::vector<int> values(static_cast<std::size_t>(count));
  for (int& value : values) {
    value = random.below(100000);
  }
  const DeviceArray<int> device_values(values);
  for (const int size : {count / 20 + 1, count}) {
    const DeviceArray<int> sum(1);
    cub_call([&](void* storage, std::size_t& bytes) {
      return cub::DeviceReduce::Sum(storage, bytes, device_values.data(), sum.data(), size);
    });
    const DeviceArray<int> least(1);
    cub_call([&](void* storage, std::size_t& bytes) {
      return cub::DeviceReduce::Min(storage, bytes, device_values.data(), least.data(), size);
    });
    const auto end = values.begin() + size;
    expect_equal("sum", sum.host()[0], std::accumulate(values.begin(), end, 0));
    expect_equal("least", least.host()[0], *std::min_element(values.begin(), end));
  }
  return result();
}
