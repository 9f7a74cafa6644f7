// What the litmus programs share that copy beside kernels: pinned memory and two streams that do
// not block. A copy's line must be one statement, for its mark.
#pragma once

#include "cells.h"

constexpr std::size_t kCellBytes = kCells * sizeof(int);

struct CopyCells : Cells {
  int* pinned = nullptr;
  cudaStream_t streams[2] = {};
  cudaEvent_t done = nullptr;
};

inline bool make_copy_cells(CopyCells& cells) {
  return make_cells(cells) && succeeded(cudaMallocHost(&cells.pinned, kCellBytes)) &&
         succeeded(cudaStreamCreateWithFlags(&cells.streams[0], cudaStreamNonBlocking)) &&
         succeeded(cudaStreamCreateWithFlags(&cells.streams[1], cudaStreamNonBlocking)) &&
         succeeded(cudaEventCreate(&cells.done));
}

// The second stream goes on when the first has come here.
inline bool pass_on(const CopyCells& cells) {
  return succeeded(cudaEventRecord(cells.done, cells.streams[0])) &&
         succeeded(cudaStreamWaitEvent(cells.streams[1], cells.done, 0));
}

// Prints the sums of what lies in device memory; the exit status of the program.
inline int finish_copies(const CopyCells& cells) {
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
