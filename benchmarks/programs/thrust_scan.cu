// Thrust's scans: an inclusive sum, a running maximum, and a segmented sum by key.
//
// expect: none
#include <algorithm>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/scan.h>

#include "benchmark_program.h"

std::vector<int> to_host(const thrust::device_vector<int>& values) {
  std::vector<int> copy(values.size());
  thrust::copy(values.begin(), values.end(), copy.begin());
  return copy;
}

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 10000);
  Random random(12);
  std::vector<int> values(static_cast<std::size_t>(count));
  std::vector<int> keys(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = random.below(1000);
    keys[i] = i == 0 ? 0 : keys[i - 1] + (random.below(50) == 0 ? 1 : 0);
  }
  const thrust::device_vector<int> input(values.begin(), values.end());
  const thrust::device_vector<int> segments(keys.begin(), keys.end());
  thrust::device_vector<int> output(values.size());
  std::vector<int> expected(values.size());

  thrust::inclusive_scan(input.begin(), input.end(), output.begin());
  std::partial_sum(values.begin(), values.end(), expected.begin());
  expect_equal("sums", to_host(output), expected);

  thrust::inclusive_scan(input.begin(), input.end(), output.begin(), thrust::maximum<int>());
  std::partial_sum(values.begin(), values.end(), expected.begin(),
                   [](int a, int b) { return std::max(a, b); });
  expect_equal("maxima", to_host(output), expected);

  thrust::inclusive_scan_by_key(segments.begin(), segments.end(), input.begin(), output.begin());
  for (std::size_t i = 0; i < values.size(); ++i) {
    expected[i] = values[i] + (i != 0 && keys[i] == keys[i - 1] ? expected[i - 1] : 0);
  }
  expect_equal("segments", to_host(output), expected);
  return result();
}
