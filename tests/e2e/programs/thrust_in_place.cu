// Thrust's selections in place: a block overwrites what blocks before it have read. They hand on
// how much they keep by relaxed stores, which PTX does not take for an order; that is left out.
//
// expect selections: none
// expect shown: race inter-block global
#include <algorithm>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/remove.h>
#include <thrust/unique.h>
#include <vector>

#include "../../../examples/cuda_check.h"

struct IsOdd {
  __host__ __device__ bool operator()(unsigned int key) const { return key % 2 == 1; }
};

int main() {
  constexpr int kCount = 20000;
  std::vector<unsigned int> keys(kCount);
  for (int i = 0; i < kCount; ++i) {
    keys[i] = (static_cast<unsigned int>(i) * 2654435761U >> 8) % 3;
  }
  thrust::device_vector<unsigned int> unique(keys.begin(), keys.end()),
      by_key = unique, values = unique, even = unique;
  unique.erase(thrust::unique(unique.begin(), unique.end()), unique.end());
  by_key.erase(thrust::unique_by_key(by_key.begin(), by_key.end(), values.begin()).first,
               by_key.end());
  even.erase(thrust::remove_if(even.begin(), even.end(), IsOdd()), even.end());

  std::vector<unsigned int> expected = keys;
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  keys.erase(std::remove_if(keys.begin(), keys.end(), IsOdd()), keys.end());
  const bool is_right = unique == expected && by_key == expected && even == keys;
  return finish(is_right, static_cast<unsigned int>(expected.size()));
}
