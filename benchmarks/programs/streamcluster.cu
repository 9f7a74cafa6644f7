// Rodinia's streamcluster: how much opening a centre would save. The candidate's coordinates are in
// shared memory; each point that would move says so and adds its saving to its old centre's row.
//
// expect: none
#include "benchmark_program.h"

constexpr int kThreads = 128;
constexpr int kDimensions = 16;

struct Point {
  float weight;
  float cost;
  int centre;  // index into the open centres
};

__global__ void gain(const Point* points, const float* coordinates, int count, int candidate,
                     int centres, float* savings, bool* switches) {
  __shared__ float where[kDimensions];
  if (threadIdx.x < kDimensions) {
    where[threadIdx.x] = coordinates[threadIdx.x * count + candidate];
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) {
    return;
  }
  float distance = 0;
  for (int d = 0; d < kDimensions; ++d) {
    const float difference = coordinates[d * count + i] - where[d];
    distance += difference * difference;
  }
  const Point& point = points[i];
  const float saved = point.cost - distance * point.weight;
  // Each point has a row of its own, a column for each centre and one for what it saves by moving.
  float* row = savings + static_cast<std::size_t>(i) * (centres + 1);
  if (saved > 0) {
    switches[i] = true;
    row[centres] += saved;
  } else {
    row[point.centre] -= saved;
  }
}

float squared_distance(const std::vector<float>& coordinates, int count, int a, int b) {
  float sum = 0;
  for (int d = 0; d < kDimensions; ++d) {
    const float difference = coordinates[d * count + a] - coordinates[d * count + b];
    sum += difference * difference;
  }
  return sum;
}

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 1500);
  constexpr int kCentres = 4;
  Random random(30);
  std::vector<float> coordinates(static_cast<std::size_t>(count) * kDimensions);
  for (float& coordinate : coordinates) {
    coordinate = random.unit();
  }
  std::vector<Point> points;
  for (int i = 0; i < count; ++i) {
    const int centre = i % kCentres;
    const float weight = 1 + random.unit();
    points.push_back({weight, weight * squared_distance(coordinates, count, i, centre), centre});
  }
  const DeviceArray<Point> device_points(points);
  const DeviceArray<float> device_coordinates(coordinates);
  for (int round = 0; round < 3; ++round) {
    const int candidate = random.below(count);
    const DeviceArray<float> savings(static_cast<std::size_t>(count) * (kCentres + 1));
    const DeviceArray<bool> switches(static_cast<std::size_t>(count));
    gain<<<(count + kThreads - 1) / kThreads, kThreads>>>(
        device_points.data(), device_coordinates.data(), count, candidate, kCentres, savings.data(),
        switches.data());
    CUDA_CHECK(cudaGetLastError());
    std::vector<float> expected(savings.count());
    for (int i = 0; i < count; ++i) {
      const float moved = squared_distance(coordinates, count, i, candidate) * points[i].weight;
      const float saved = points[i].cost - moved;
      const int column = saved > 0 ? kCentres : points[i].centre;
      expected[i * (kCentres + 1) + column] = std::fabs(saved);
    }
    expect_close("saving", savings.host(), expected, 1e-4F);
  }
  return result();
}
