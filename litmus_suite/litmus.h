// What every litmus program shares: three arrays of zeroed global memory and a main() that launches
// the kernel `litmus` once. A litmus file includes this, defines the kernel, and ends with
// LITMUS(grid, block) or LITMUS_COOPERATIVE(grid, block).
#pragma once

#include <cstdio>

#include <cuda_runtime.h>

constexpr int kCells = 4096;

// x: the data that may race; flag: flags, locks and counters; out: results that never race.
__global__ void litmus(int* x, int* flag, int* out);

inline int run_litmus(dim3 grid, dim3 block, bool cooperative) {
  int *x, *flag, *out;
  for (int** cells : {&x, &flag, &out}) {
    if (cudaMalloc(cells, kCells * sizeof(int)) != cudaSuccess ||
        cudaMemset(*cells, 0, kCells * sizeof(int)) != cudaSuccess) {
      std::fprintf(stderr, "no device memory\n");
      return 1;
    }
  }
  void* arguments[] = {&x, &flag, &out};
  const void* kernel = reinterpret_cast<const void*>(litmus);
  const cudaError_t launched =
      cooperative ? cudaLaunchCooperativeKernel(kernel, grid, block, arguments, 0, nullptr)
                  : cudaLaunchKernel(kernel, grid, block, arguments, 4096, nullptr);
  const cudaError_t finished = launched != cudaSuccess ? launched : cudaDeviceSynchronize();
  if (finished != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(finished));
    return 1;
  }
  return 0;
}

#define LITMUS(grid, block)                \
  int main() {                             \
    return run_litmus(grid, block, false); \
  }
#define LITMUS_COOPERATIVE(grid, block)   \
  int main() {                            \
    return run_litmus(grid, block, true); \
  }

// Names for who executes a statement.
#define BLOCK(n) (blockIdx.x == (n))
#define WARP(n) (threadIdx.x / 32 == (n))
#define LANE(n) (threadIdx.x % 32 == (n))
#define THREAD(b, t) (blockIdx.x == (b) && threadIdx.x == (t))
