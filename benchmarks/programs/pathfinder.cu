// Rodinia's pathfinder: the cheapest way through a grid, several rows per launch on a block's
// columns, of which two fewer are right after each row.
//
// expect: none
#include <algorithm>
#include <utility>

#include "benchmark_program.h"

constexpr int kThreads = 128;
constexpr int kRowsPerLaunch = 8;
constexpr int kInner = kThreads - 2 * kRowsPerLaunch;

__global__ void advance(int rows, const int* wall, const int* before, int* after, int columns) {
  __shared__ int previous[kThreads];
  __shared__ int next[kThreads];
  const int tx = threadIdx.x;
  const int x = static_cast<int>(blockIdx.x) * kInner - kRowsPerLaunch + tx;
  const bool inside = x >= 0 && x < columns;
  const int left = x > 0 && tx > 0 ? tx - 1 : tx;
  const int right = x < columns - 1 && tx < kThreads - 1 ? tx + 1 : tx;
  if (inside) {
    previous[tx] = before[x];
  }
  __syncthreads();
  bool computed = false;
  for (int row = 0; row < rows; ++row) {
    computed = inside && tx > row && tx < kThreads - 1 - row;
    if (computed) {
      next[tx] = min(previous[tx], min(previous[left], previous[right])) + wall[row * columns + x];
    }
    __syncthreads();
    if (row == rows - 1) {
      break;
    }
    if (computed) {
      previous[tx] = next[tx];
    }
    __syncthreads();
  }
  if (computed && tx >= kRowsPerLaunch && tx < kThreads - kRowsPerLaunch) {
    after[x] = next[tx];
  }
}

std::vector<int> cheapest(const std::vector<int>& wall, int rows, int columns) {
  std::vector<int> cost(wall.begin(), wall.begin() + columns);
  for (int row = 1; row < rows; ++row) {
    const std::vector<int> before = cost;
    for (int x = 0; x < columns; ++x) {
      const int left = std::max(x - 1, 0);
      const int right = std::min(x + 1, columns - 1);
      cost[x] =
          std::min(before[x], std::min(before[left], before[right])) + wall[row * columns + x];
    }
  }
  return cost;
}

int main(int argc, char** argv) {
  const int columns = size_argument(argc, argv, 2000);
  constexpr int kRows = 30;
  Random random(29);
  std::vector<int> wall(static_cast<std::size_t>(kRows) * columns);
  for (int& cell : wall) {
    cell = random.below(10);
  }
  const DeviceArray<int> device_wall(wall);
  const DeviceArray<int> first(std::vector<int>(wall.begin(), wall.begin() + columns));
  const DeviceArray<int> second(static_cast<std::size_t>(columns));
  const int blocks = (columns + kInner - 1) / kInner;
  const int* wall_row = device_wall.data() + columns;
  int* from = first.data();
  int* to = second.data();
  for (int row = 1; row < kRows; row += kRowsPerLaunch) {
    const int rows = std::min(kRowsPerLaunch, kRows - row);
    advance<<<blocks, kThreads>>>(rows, wall_row, from, to, columns);
    CUDA_CHECK(cudaGetLastError());
    wall_row += rows * columns;
    std::swap(from, to);
  }
  const DeviceArray<int>& last = from == first.data() ? first : second;
  expect_equal("cost", last.host(), cheapest(wall, kRows, columns));
  return result();
}
