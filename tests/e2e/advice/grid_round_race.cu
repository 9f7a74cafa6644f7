// Rounds over two arrays in one cooperative kernel, with the barrier of the grid left out once.
// expect: race inter-block global
// missing: one more (grid.sync\(\) )?is missing between the two accesses$
#include <cooperative_groups.h>

#include "../../../litmus_suite/litmus.h"

__device__ int arrays[2][128];

__global__ void litmus(int* x, int* flag, int* out) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const int t = grid.thread_rank();
  for (int round = 0; round < 4; ++round) {
    const int* from = arrays[round % 2];
    int* to = arrays[1 - round % 2];
    to[t] = from[t] + from[(t + 64) % 128];  // RACE
    if (round != 2) {
      grid.sync();
    }
  }
}

LITMUS_COOPERATIVE(2, 64)
