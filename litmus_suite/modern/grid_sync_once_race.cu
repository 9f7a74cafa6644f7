// Rounds with one barrier of the grid: a block reads its neighbour's word while that one may be
// writing it in the next round. A block that leaves the barrier late sees the arrivals at the next
// one, which must not hide it.
// expect: race inter-block global
// weak: never
// schedule paper: some
#include <cooperative_groups.h>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int round = 0; round < 4; ++round) {
    if (threadIdx.x == 0) {
      flag[blockIdx.x] = round + 1;  // RACE
    }
    grid.sync();
    if (threadIdx.x == 0) {
      out[blockIdx.x] = flag[(blockIdx.x + 1) % gridDim.x];  // RACE
    }
  }
}

LITMUS_COOPERATIVE(4, 64)
