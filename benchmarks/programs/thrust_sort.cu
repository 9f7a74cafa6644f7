// thrust::sort of integers (a radix sort) and thrust::stable_sort with a comparison (a merge sort).
//
// expect: none
#include <algorithm>
#include <thrust/device_vector.h>
#include <thrust/sort.h>

#include "benchmark_program.h"

struct LastDigitsFirst {
  __host__ __device__ bool operator()(int a, int b) const { return a % 100 < b % 100; }
};

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 6000);
  Random random(11);
  std::vector<int> values(static_cast<std::size_t>(count));
  for (int& value : values) {
    value = random.below(1 << 30);
  }
  const thrust::device_vector<int> input(values.begin(), values.end());

  thrust::device_vector<int> sorted = input;
  thrust::sort(sorted.begin(), sorted.end());
  std::vector<int> actual(values.size());
  thrust::copy(sorted.begin(), sorted.end(), actual.begin());
  std::vector<int> expected = values;
  std::sort(expected.begin(), expected.end());
  expect_equal("sorted", actual, expected);

  sorted = input;
  thrust::stable_sort(sorted.begin(), sorted.end(), LastDigitsFirst());
  thrust::copy(sorted.begin(), sorted.end(), actual.begin());
  expected = values;
  std::stable_sort(expected.begin(), expected.end(), LastDigitsFirst());
  expect_equal("stable sorted", actual, expected);
  return result();
}
