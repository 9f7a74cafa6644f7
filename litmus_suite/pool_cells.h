// What the litmus programs share that allocate and free in the order of streams: two streams that
// do not block. An allocation's or a free's line must be one statement, for its mark.
#pragma once

#include "cells.h"

constexpr std::size_t kPoolBytes = 32 * sizeof(int);

struct PoolCells : Cells {
  int* first = nullptr;
  int* second = nullptr;
  cudaStream_t streams[2] = {};
  cudaEvent_t done = nullptr;
};

inline bool make_pool_cells(PoolCells& cells) {
  return make_cells(cells) &&
         succeeded(cudaStreamCreateWithFlags(&cells.streams[0], cudaStreamNonBlocking)) &&
         succeeded(cudaStreamCreateWithFlags(&cells.streams[1], cudaStreamNonBlocking)) &&
         succeeded(cudaEventCreate(&cells.done));
}

// The second stream goes on when the first has come here.
inline bool pass_on(const PoolCells& cells) {
  return succeeded(cudaEventRecord(cells.done, cells.streams[0])) &&
         succeeded(cudaStreamWaitEvent(cells.streams[1], cells.done, 0));
}

// The exit status of the program.
inline int finish_pool(const PoolCells& cells) {
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
