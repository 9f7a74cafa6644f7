// What the graph programs share: two kernels' worth of cells, and their check.
#pragma once

#include "../../../examples/cuda_check.h"

constexpr int kBlocks = 4;
constexpr int kThreads = 64;
constexpr int kCount = kBlocks * kThreads;

inline int* make_cells() {
  int* cells = nullptr;
  CUDA_CHECK(cudaMalloc(&cells, kCount * sizeof(int)));
  CUDA_CHECK(cudaMemset(cells, 0, kCount * sizeof(int)));
  return cells;
}

// Every cell must be this number.
inline int finish_cells(int* device_cells, int expected) {
  int cells[kCount];
  CUDA_CHECK(cudaMemcpy(cells, device_cells, sizeof cells, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device_cells));
  bool right = true;
  long long sum = 0;
  for (int cell : cells) {
    right = right && cell == expected;
    sum += cell;
  }
  return finish(right, sum);
}
