// Sums by cooperative groups over tiles of four warps. Of the warp that arrives last, lane 0 alone
// acquires what the others have written; its other lanes learn of it by a shuffle, which orders no
// memory. That is the library's own, and left out.
//
// expect: none
// expect shown: race intra-block shared
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "../../../examples/cuda_check.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 256;

__global__ void sums_of_tiles(const int* values, int* sums) {
  __shared__ cg::block_tile_memory<kThreads> scratch;
  const auto block = cg::this_thread_block(scratch);
  const auto tile = cg::tiled_partition<128>(block);
  const int sum = cg::reduce(tile, values[threadIdx.x], cg::plus<int>());  // RACE shown
  if (tile.thread_rank() == 0) {
    sums[tile.meta_group_rank()] = sum;
  }
}

int main() {
  int values[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    values[i] = i;
  }
  int *device_values, *device_sums;
  CUDA_CHECK(cudaMalloc(&device_values, sizeof values));
  CUDA_CHECK(cudaMalloc(&device_sums, 2 * sizeof(int)));
  CUDA_CHECK(cudaMemcpy(device_values, values, sizeof values, cudaMemcpyHostToDevice));
  sums_of_tiles<<<1, kThreads>>>(device_values, device_sums);
  int sums[2];
  CUDA_CHECK(cudaMemcpy(sums, device_sums, sizeof sums, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device_values));
  CUDA_CHECK(cudaFree(device_sums));
  return finish(sums[0] == 127 * 64 && sums[1] == 127 * 64 + 128 * 128, sums[0] + sums[1]);
}
