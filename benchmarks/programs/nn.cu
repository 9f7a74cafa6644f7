// Rodinia's nearest neighbours: the distance of every record to a place; the host picks the
// nearest.
//
// expect: none
#include <algorithm>
#include <numeric>

#include "benchmark_program.h"

constexpr int kThreads = 256;
constexpr int kNearest = 5;

struct Place {
  float latitude, longitude;
};

__host__ __device__ inline float distance_between(Place a, Place b) {
  const float dy = a.latitude - b.latitude;
  const float dx = a.longitude - b.longitude;
  return sqrtf(dy * dy + dx * dx);
}

__global__ void distances_to(const Place* places, float* distances, int count, Place target) {
  const int i = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
  if (i < count) {
    distances[i] = distance_between(places[i], target);
  }
}

std::vector<int> nearest(const std::vector<float>& distances) {
  std::vector<int> order(distances.size());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + kNearest, order.end(),
                    [&](int a, int b) { return distances[a] < distances[b]; });
  order.resize(kNearest);
  return order;
}

int main(int argc, char** argv) {
  const int count = std::max(kNearest, size_argument(argc, argv, 20000));
  Random random(28);
  std::vector<Place> places(static_cast<std::size_t>(count));
  for (Place& place : places) {
    place = {random.unit() * 180 - 90, random.unit() * 360 - 180};
  }
  const Place target{30, 90};
  const DeviceArray<Place> device_places(places);
  const DeviceArray<float> device_distances(places.size());
  const int blocks = (count + kThreads - 1) / kThreads;
  distances_to<<<dim3((blocks + 1) / 2, 2), kThreads>>>(device_places.data(),
                                                        device_distances.data(), count, target);
  CUDA_CHECK(cudaGetLastError());
  std::vector<float> expected;
  for (const Place& place : places) {
    expected.push_back(distance_between(place, target));
  }
  const std::vector<float> distances = device_distances.host();
  expect_close("distance", distances, expected, 1e-5F);
  expect_equal("nearest", nearest(distances), nearest(expected));
  return result();
}
