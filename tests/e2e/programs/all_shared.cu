// Two launches: one takes the shared memory that its argument says, or "all" that a block can have,
// and the other 1 KiB, in which neighbours race. Both count blocks in a variable of their module.
// behaviour/all_shared.sh names it.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../../examples/cuda_check.h"

constexpr int kThreads = 64;

__device__ int blocks;
static __device__ int last[2 * kThreads];

__global__ void exchange(int words) {
  extern __shared__ int shared[];
  shared[words - 1 - static_cast<int>(threadIdx.x)] = static_cast<int>(threadIdx.x);
  last[blockIdx.x * kThreads + threadIdx.x] =
      shared[words - kThreads + static_cast<int>(threadIdx.x)];
  if (threadIdx.x == 0) {
    atomicAdd(&blocks, 1);
  }
}

int main(int count, char** arguments) {
  int most = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  const bool is_all = count < 2 || std::strcmp(arguments[1], "all") == 0;
  const int bytes = is_all ? most : std::atoi(arguments[1]);
  CUDA_CHECK(cudaFuncSetAttribute(exchange, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  exchange<<<2, kThreads, bytes>>>(bytes / 4);
  CUDA_CHECK(cudaGetLastError());
  exchange<<<1, kThreads, 1024>>>(1024 / 4);
  CUDA_CHECK(cudaGetLastError());
  int found = 0;
  CUDA_CHECK(cudaMemcpyFromSymbol(&found, blocks, sizeof(found)));
  std::printf("%d blocks\n", found);
  return found == 3 ? 0 : 1;
}
