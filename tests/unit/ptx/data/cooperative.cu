// Cooperative groups: grid, block, tile and coalesced groups, and reductions over them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void groups(int* data, int n) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int value = grid.thread_rank() < n ? data[grid.thread_rank()] : 0;
  value = cg::reduce(tile, value, cg::plus<int>());
  block.sync();
  if (value > 3) {
    cg::coalesced_group active = cg::coalesced_threads();
    value += active.shfl(value, 0) + cg::inclusive_scan(active, value);
  }
  data[grid.thread_rank()] = value;
  grid.sync();
  data[grid.thread_rank()] += data[(grid.thread_rank() + 1) % n];
}

__global__ void wide_tile(int* data) {
  __shared__ cg::block_tile_memory<128> memory;
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<64>(block);
  data[threadIdx.x] = cg::reduce(tile, data[threadIdx.x], cg::greater<int>());
}
