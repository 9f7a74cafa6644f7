// The three arrays of zeroed global memory that every litmus program uses, and who is who in a
// kernel. A program ends with print_cells(): where its result is the same on every schedule, its
// first lines say so (`// result: …`).
#pragma once

#include <cstdio>

#include <cuda_runtime.h>

constexpr int kCells = 4096;

// x: the data that may race; flag: flags, locks and counters; out: results that never race.
struct Cells {
  int* x = nullptr;
  int* flag = nullptr;
  int* out = nullptr;
};

inline bool succeeded(cudaError_t status) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  }
  return status == cudaSuccess;
}

inline bool make_cells(Cells& cells) {
  for (int** array : {&cells.x, &cells.flag, &cells.out}) {
    if (!succeeded(cudaMalloc(array, kCells * sizeof(int))) ||
        !succeeded(cudaMemset(*array, 0, kCells * sizeof(int)))) {
      return false;
    }
  }
  return succeeded(cudaDeviceSynchronize());
}

// Prints the sums of x and of out; the exit status of the program.
inline int print_cells(const Cells& cells) {
  static int host[kCells];
  long long sums[2] = {0, 0};
  const int* const arrays[2] = {cells.x, cells.out};
  for (int i = 0; i < 2; ++i) {
    if (!succeeded(cudaMemcpy(host, arrays[i], sizeof host, cudaMemcpyDeviceToHost))) {
      return 1;
    }
    for (int cell : host) {
      sums[i] += cell;
    }
  }
  std::printf("x %lld out %lld\n", sums[0], sums[1]);
  return 0;
}

// Names for who executes a statement.
#define BLOCK(n) (blockIdx.x == (n))
#define WARP(n) (threadIdx.x / 32 == (n))
#define LANE(n) (threadIdx.x % 32 == (n))
#define THREAD(b, t) (blockIdx.x == (b) && threadIdx.x == (t))
