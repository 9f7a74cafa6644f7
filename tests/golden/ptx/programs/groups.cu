// Cooperative groups: grid barriers, tiles, reductions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace groups = cooperative_groups;

__global__ void grid_barrier(int* p) {
  p[blockIdx.x] = 1;
  groups::this_grid().sync();
  p[gridDim.x + blockIdx.x] = p[(blockIdx.x + 1) % gridDim.x];
}

__global__ void tiles(int* p) {
  __shared__ groups::block_tile_memory<256> memory;
  auto block = groups::this_thread_block(memory);
  auto tile = groups::tiled_partition<16>(block);
  auto large = groups::tiled_partition<64>(block);
  p[threadIdx.x] += groups::reduce(tile, p[threadIdx.x], groups::plus<int>());
  tile.sync();
  large.sync();
  block.sync();
  auto active = groups::coalesced_threads();
  if (active.thread_rank() == 0) {
    p[0] += static_cast<int>(active.size()) + __syncthreads_count(p[1]);
  }
}
