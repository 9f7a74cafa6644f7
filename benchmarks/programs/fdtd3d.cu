// Like NVIDIA's FDTD3d sample: finite differences of a wave in three dimensions, eighth order. A
// block marches along z with a plane in shared memory, and what its threads need of the planes
// before and behind in registers. SIZE is the side of the volume, whose outside is zero.
//
// expect: none
#include <utility>

#include "benchmark_program.h"

constexpr int kRadius = 4;
constexpr int kTile = 16;

// The weight of the cells at a distance in the second derivative, times the square of the speed.
__host__ __device__ inline float weight(int distance) {
  constexpr float kSpeed = 0.15F;
  constexpr float kWeights[kRadius + 1] = {kSpeed * -205 / 72, kSpeed * 8 / 5, kSpeed * -1 / 5,
                                           kSpeed * 8 / 315, kSpeed * -1 / 560};
  return kWeights[distance];
}

__host__ __device__ inline float cell_at(const float* cells, int x, int y, int z, int size) {
  const bool is_inside = x >= 0 && x < size && y >= 0 && y < size && z >= 0 && z < size;
  return is_inside ? cells[(z * size + y) * size + x] : 0;
}

// One step from `now` on. `after` holds the step before `now`.
__global__ void step_wave(const float* now, float* after, int size) {
  __shared__ float plane[kTile + 2 * kRadius][kTile + 2 * kRadius];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int x = blockIdx.x * kTile + tx;
  const int y = blockIdx.y * kTile + ty;
  float column[2 * kRadius + 1] = {};
  for (int i = 0; i < kRadius; ++i) {
    column[kRadius + 1 + i] = cell_at(now, x, y, i, size);
  }
  for (int z = 0; z < size; ++z) {
    for (int i = 0; i < 2 * kRadius; ++i) {
      column[i] = column[i + 1];
    }
    column[2 * kRadius] = cell_at(now, x, y, z + kRadius, size);
    __syncthreads();
    plane[ty + kRadius][tx + kRadius] = column[kRadius];
    if (ty < kRadius) {
      plane[ty][tx + kRadius] = cell_at(now, x, y - kRadius, z, size);
      plane[ty + kRadius + kTile][tx + kRadius] = cell_at(now, x, y + kTile, z, size);
    }
    if (tx < kRadius) {
      plane[ty + kRadius][tx] = cell_at(now, x - kRadius, y, z, size);
      plane[ty + kRadius][tx + kRadius + kTile] = cell_at(now, x + kTile, y, z, size);
    }
    __syncthreads();
    float change = 3 * weight(0) * column[kRadius];
    for (int i = 1; i <= kRadius; ++i) {
      change += weight(i) *
                (column[kRadius - i] + column[kRadius + i] + plane[ty + kRadius - i][tx + kRadius] +
                 plane[ty + kRadius + i][tx + kRadius] + plane[ty + kRadius][tx + kRadius - i] +
                 plane[ty + kRadius][tx + kRadius + i]);
    }
    if (x < size && y < size) {
      float* const cell = &after[(z * size + y) * size + x];
      *cell = 2 * column[kRadius] - *cell + change;
    }
  }
}

float cell_on_host(const std::vector<float>& before, const std::vector<float>& now,
                   std::size_t place, int size) {
  const int x = static_cast<int>(place) % size;
  const int y = static_cast<int>(place) / size % size;
  const int z = static_cast<int>(place) / size / size;
  float change = 3 * weight(0) * now[place];
  for (int i = 1; i <= kRadius; ++i) {
    for (const int d : {-i, i}) {
      change += weight(i) *
                (cell_at(now.data(), x + d, y, z, size) + cell_at(now.data(), x, y + d, z, size) +
                 cell_at(now.data(), x, y, z + d, size));
    }
  }
  return 2 * now[place] - before[place] + change;
}

int main(int argc, char** argv) {
  const int size = size_argument(argc, argv, 18);
  const int steps = size / 4 + 1;
  // The CPU repeats all steps of a small volume, else the last one in some places.
  const int trusted_steps = size <= 32 ? 0 : steps - 1;
  Random random(44);
  std::vector<float> before(static_cast<std::size_t>(size) * size * size);
  for (float& cell : before) {
    cell = random.unit() - 0.5F;
  }
  std::vector<float> now = before;
  const DeviceArray<float> first(before);
  const DeviceArray<float> second(before);
  float* from = first.data();
  float* to = second.data();
  const int tiles = (size + kTile - 1) / kTile;
  for (int step = 0; step < steps; ++step) {
    if (step == trusted_steps) {
      now = from == first.data() ? first.host() : second.host();
      before = from == first.data() ? second.host() : first.host();
    }
    step_wave<<<dim3(tiles, tiles), dim3(kTile, kTile)>>>(from, to, size);
    CUDA_CHECK(cudaGetLastError());
    std::swap(from, to);
  }

  for (int step = trusted_steps; step < steps - 1; ++step) {
    std::vector<float> after(now.size());
    for (std::size_t place = 0; place < now.size(); ++place) {
      after[place] = cell_on_host(before, now, place, size);
    }
    before = std::exchange(now, after);
  }
  const std::vector<float> after = from == first.data() ? first.host() : second.host();
  const std::vector<std::size_t> places = compared_places(after.size(), 32768);
  std::vector<float> expected;
  for (const std::size_t place : places) {
    expected.push_back(cell_on_host(before, now, place, size));
  }
  expect_close("cell", values_at(after, places), expected, 1e-4F);
  return result();
}
