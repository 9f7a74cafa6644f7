// A cooperative launch whose blocks meet at a grid barrier, and launches with attributes.
#include <cooperative_groups.h>

#include "check.h"

__global__ void exchange(int* cells, int* sums) {
  const int block = static_cast<int>(blockIdx.x);
  const int blocks = static_cast<int>(gridDim.x);
  if (threadIdx.x == 0) {
    cells[block] = block + 1;
  }
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) {
    sums[block] = cells[block] + cells[(block + 1) % blocks];
  }
}

int main() {
  int can = 0;
  EXPECT(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0) == cudaSuccess && can == 1);
  int per_multiprocessor = 0;
  EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, exchange, 64, 0) ==
         cudaSuccess);
  EXPECT(per_multiprocessor >= 1);
  constexpr int kBlocks = 8;
  int *cells, *sums;
  EXPECT(cudaMallocManaged(&cells, kBlocks * sizeof(int)) == cudaSuccess);
  EXPECT(cudaMallocManaged(&sums, kBlocks * sizeof(int)) == cudaSuccess);
  void* arguments[] = {&cells, &sums};
  EXPECT(cudaLaunchCooperativeKernel(exchange, dim3(kBlocks), dim3(64), arguments) == cudaSuccess);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int block = 0; block < kBlocks; ++block) {
    EXPECT(sums[block] == block + 1 + (block + 1) % kBlocks + 1);
    sums[block] = 0;
  }
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(kBlocks);
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT(cudaLaunchKernelEx(&config, exchange, cells, sums) == cudaSuccess);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(sums[kBlocks - 1] == kBlocks + 1);
  EXPECT(cudaLaunchCooperativeKernel(exchange, dim3(100000), dim3(64), arguments) ==
         cudaErrorCooperativeLaunchTooLarge);
  EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  std::puts("ok");
}
