// Rodinia's hotspot: the heat equation on a chip, several steps per launch in shared memory on a
// tile that shrinks by one cell a step. BARRIERS is a bit for each of the three barriers: with one
// taken out the result may be wrong (benchmarks/weak/run_table4.py).
//
// expect: none
#include <algorithm>
#include <utility>

#include "benchmark_program.h"

#ifndef BARRIERS
#  define BARRIERS 7
#endif

constexpr int kSide = 16;
constexpr int kSteps = 2;
constexpr int kInner = kSide - 2 * kSteps;
constexpr float kAmbient = 80.0F;
constexpr float kConductY = 0.1F;
constexpr float kConductX = 0.12F;
constexpr float kConductZ = 0.02F;
constexpr float kHeat = 0.5F;

__host__ __device__ inline float updated(float center, float power, float vertical,
                                         float horizontal) {
  return center + kHeat * power + kConductY * (vertical - 2.0F * center) +
         kConductX * (horizontal - 2.0F * center) + kConductZ * (kAmbient - center);
}

__global__ void heat(const float* power, const float* before, float* after, int size) {
  __shared__ float now[kSide][kSide];
  __shared__ float next[kSide][kSide];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int x = static_cast<int>(blockIdx.x) * kInner - kSteps + tx;
  const int y = static_cast<int>(blockIdx.y) * kInner - kSteps + ty;
  const bool inside = x >= 0 && x < size && y >= 0 && y < size;
  now[ty][tx] = inside ? before[y * size + x] : 0;
  const float my_power = inside ? power[y * size + x] : 0;
  if (BARRIERS & 1) {
    __syncthreads();
  }
  // Neighbours beyond the chip's edge are the edge's own cell.
  const int left = clamp(x - 1, size) - x + tx;
  const int right = clamp(x + 1, size) - x + tx;
  const int up = clamp(y - 1, size) - y + ty;
  const int down = clamp(y + 1, size) - y + ty;
  bool computed = false;
  for (int step = 0; step < kSteps; ++step) {
    computed = inside && tx > step && tx < kSide - 1 - step && ty > step && ty < kSide - 1 - step;
    if (computed) {
      next[ty][tx] = updated(now[ty][tx], my_power, now[up][tx] + now[down][tx],
                             now[ty][left] + now[ty][right]);
    }
    if (BARRIERS & 2) {
      __syncthreads();
    }
    if (step == kSteps - 1) {
      break;
    }
    if (computed) {
      now[ty][tx] = next[ty][tx];
    }
    if (BARRIERS & 4) {
      __syncthreads();
    }
  }
  if (computed) {
    after[y * size + x] = next[ty][tx];
  }
}

std::vector<float> heat_on_host(const std::vector<float>& power, std::vector<float> cells, int size,
                                int steps) {
  std::vector<float> next(cells.size());
  for (int step = 0; step < steps; ++step) {
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        const auto at = [&](int row, int column) {
          return cells[clamp(row, size) * size + clamp(column, size)];
        };
        next[y * size + x] = updated(cells[y * size + x], power[y * size + x],
                                     at(y - 1, x) + at(y + 1, x), at(y, x - 1) + at(y, x + 1));
      }
    }
    std::swap(cells, next);
  }
  return cells;
}

int main(int argc, char** argv) {
  const int size = size_argument(argc, argv, 80);
  constexpr int kLaunches = 3;
  Random random(24);
  std::vector<float> power(static_cast<std::size_t>(size) * size);
  std::vector<float> cells(power.size());
  for (std::size_t i = 0; i < power.size(); ++i) {
    power[i] = random.unit();
    cells[i] = 70 + 20 * random.unit();
  }
  const DeviceArray<float> device_power(power);
  const DeviceArray<float> first(cells);
  const DeviceArray<float> second(cells.size());
  const int blocks = (size + kInner - 1) / kInner;
  float* from = first.data();
  float* to = second.data();
  for (int launch = 0; launch < kLaunches; ++launch) {
    heat<<<dim3(blocks, blocks), dim3(kSide, kSide)>>>(device_power.data(), from, to, size);
    CUDA_CHECK(cudaGetLastError());
    std::swap(from, to);
  }
  const DeviceArray<float>& last = from == first.data() ? first : second;
  expect_close("temperature", last.host(), heat_on_host(power, cells, size, kLaunches * kSteps),
               1e-4F);
  return result();
}
