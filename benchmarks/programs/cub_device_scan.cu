// CUB's DeviceScan: an exclusive and an inclusive sum. Its blocks wait for the tiles before them
// (decoupled look-back).
//
// expect: none
#include <cub/device/device_scan.cuh>
#include <numeric>

#include "cub_call.h"

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 20000);
  Random random(5);
  std::vector<int> values(static_cast<std::size_t>(count));
  for (int& value : values) {
    value = random.below(1000);
  }
  const DeviceArray<int> device_values(values);
  const DeviceArray<int> sums(values.size());
  std::vector<int> expected(values.size());

  cub_call([&](void* storage, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(storage, bytes, device_values.data(), sums.data(), count);
  });
  std::exclusive_scan(values.begin(), values.end(), expected.begin(), 0);
  expect_equal("exclusive", sums.host(), expected);

  cub_call([&](void* storage, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(storage, bytes, device_values.data(), sums.data(), count);
  });
  std::inclusive_scan(values.begin(), values.end(), expected.begin());
  expect_equal("inclusive", sums.host(), expected);
  return result();
}
