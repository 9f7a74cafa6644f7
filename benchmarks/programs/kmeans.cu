// Rodinia's k-means: a kernel transposes the points, another finds each point's nearest centre; the
// host moves the centres.
//
// expect: none
#include <cfloat>

#include "benchmark_program.h"

constexpr int kThreads = 128;
constexpr int kClusters = 5;
constexpr int kFeatures = 8;
constexpr int kRounds = 4;

__constant__ float g_centres[kClusters * kFeatures];

__global__ void transpose(const float* points, float* features, int count) {
  const int point = blockIdx.x * blockDim.x + threadIdx.x;
  if (point < count) {
    for (int f = 0; f < kFeatures; ++f) {
      features[f * count + point] = points[point * kFeatures + f];
    }
  }
}

__global__ void assign(const float* features, int* membership, int count) {
  const int point = blockIdx.x * blockDim.x + threadIdx.x;
  if (point >= count) {
    return;
  }
  int nearest = -1;
  float least = FLT_MAX;
  for (int cluster = 0; cluster < kClusters; ++cluster) {
    float distance = 0;
    for (int f = 0; f < kFeatures; ++f) {
      const float difference = features[f * count + point] - g_centres[cluster * kFeatures + f];
      distance += difference * difference;
    }
    if (distance < least) {
      least = distance;
      nearest = cluster;
    }
  }
  membership[point] = nearest;
}

std::vector<float> centres_of(const std::vector<float>& points,
                              const std::vector<int>& membership) {
  std::vector<float> centres(kClusters * kFeatures);
  std::vector<int> sizes(kClusters);
  for (std::size_t point = 0; point < membership.size(); ++point) {
    ++sizes[membership[point]];
    for (int f = 0; f < kFeatures; ++f) {
      centres[membership[point] * kFeatures + f] += points[point * kFeatures + f];
    }
  }
  for (int i = 0; i < kClusters * kFeatures; ++i) {
    centres[i] /= static_cast<float>(sizes[i / kFeatures] > 0 ? sizes[i / kFeatures] : 1);
  }
  return centres;
}

std::vector<int> nearest_centres(const std::vector<float>& points,
                                 const std::vector<float>& centres) {
  std::vector<int> membership;
  for (std::size_t start = 0; start < points.size(); start += kFeatures) {
    int nearest = 0;
    double least = DBL_MAX;
    for (int cluster = 0; cluster < kClusters; ++cluster) {
      double distance = 0;
      for (int f = 0; f < kFeatures; ++f) {
        const double difference = points[start + f] - centres[cluster * kFeatures + f];
        distance += difference * difference;
      }
      if (distance < least) {
        least = distance;
        nearest = cluster;
      }
    }
    membership.push_back(nearest);
  }
  return membership;
}

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 2000);
  Random random(25);
  // Well apart, so that rounding cannot move a point to another cluster.
  std::vector<float> points;
  for (int point = 0; point < count; ++point) {
    for (int f = 0; f < kFeatures; ++f) {
      points.push_back(static_cast<float>(10 * (point % kClusters)) + random.unit());
    }
  }
  const DeviceArray<float> device_points(points);
  const DeviceArray<float> features(points.size());
  const DeviceArray<int> membership(static_cast<std::size_t>(count));
  const int blocks = (count + kThreads - 1) / kThreads;
  transpose<<<blocks, kThreads>>>(device_points.data(), features.data(), count);
  CUDA_CHECK(cudaGetLastError());
  std::vector<float> centres(points.begin(), points.begin() + kClusters * kFeatures);
  for (int round = 0; round < kRounds; ++round) {
    CUDA_CHECK(cudaMemcpyToSymbol(g_centres, centres.data(), centres.size() * sizeof(float)));
    assign<<<blocks, kThreads>>>(features.data(), membership.data(), count);
    CUDA_CHECK(cudaGetLastError());
    const std::vector<int> assigned = membership.host();
    expect_equal("membership", assigned, nearest_centres(points, centres));
    centres = centres_of(points, assigned);
  }
  return result();
}
