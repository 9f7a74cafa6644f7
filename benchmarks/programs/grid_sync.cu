// Cooperative groups over the whole grid: a Jacobi iteration in one launch, grid.sync() between the
// steps, the residual reduced by tiles and one atomic per tile.
//
// expect: none
#include <utility>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "benchmark_program.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 128;
constexpr int kSteps = 8;

__global__ void jacobi(float* first, float* second, int* moved, int count) {
  const cg::grid_group grid = cg::this_grid();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
  float* from = first;
  float* to = second;
  for (int step = 0; step < kSteps; ++step) {
    int mine = 0;
    for (int i = static_cast<int>(grid.thread_rank()); i < count;
         i += static_cast<int>(grid.size())) {
      const bool edge = i == 0 || i == count - 1;
      to[i] = edge ? from[i] : 0.5F * (from[i - 1] + from[i + 1]);
      mine += to[i] != from[i] ? 1 : 0;
    }
    const int sum = cg::reduce(tile, mine, cg::plus<int>());
    if (tile.thread_rank() == 0) {
      atomicAdd(&moved[step], sum);
    }
    grid.sync();
    float* const swapped = from;
    from = to;
    to = swapped;
  }
}

int main(int argc, char** argv) {
  int count = size_argument(argc, argv, 2000);
  constexpr int kBlocks = 4;
  std::vector<float> cells(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    cells[i] = static_cast<float>(i % 16);
  }
  const DeviceArray<float> first(cells);
  const DeviceArray<float> second(cells.size());
  const DeviceArray<int> moved(kSteps);
  float* from = first.data();
  float* to = second.data();
  int* counts = moved.data();
  void* arguments[] = {&from, &to, &counts, &count};
  CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&jacobi), kBlocks, kThreads,
                                         arguments, 0, nullptr));
  CUDA_CHECK(cudaDeviceSynchronize());

  std::vector<int> expected_moved(kSteps);
  for (int step = 0; step < kSteps; ++step) {
    std::vector<float> next = cells;
    for (int i = 1; i + 1 < count; ++i) {
      next[i] = 0.5F * (cells[i - 1] + cells[i + 1]);
      expected_moved[step] += next[i] != cells[i] ? 1 : 0;
    }
    std::swap(cells, next);
  }
  expect_equal("cell", first.host(), cells);
  expect_equal("moved", moved.host(), expected_moved);
  return result();
}
