// A histogram in distributed shared memory: the blocks of a cluster each own a part of the bins and
// add to one another's with atomics; cluster.sync() stands before, between and after.
//
// expect: none
#include <cooperative_groups.h>

#include "benchmark_program.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 64;
constexpr int kCluster = 2;
constexpr int kBins = 64;
constexpr int kBinsPerBlock = kBins / kCluster;

__global__ void __cluster_dims__(kCluster, 1, 1)
    histogram(const int* values, int count, int* bins) {
  __shared__ int mine[kBinsPerBlock];
  const cg::cluster_group cluster = cg::this_cluster();
  for (int bin = threadIdx.x; bin < kBinsPerBlock; bin += kThreads) {
    mine[bin] = 0;
  }
  cluster.sync();
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) {
    int* const theirs = cluster.map_shared_rank(mine, values[i] / kBinsPerBlock);
    atomicAdd(&theirs[values[i] % kBinsPerBlock], 1);
  }
  cluster.sync();
  for (int bin = threadIdx.x; bin < kBinsPerBlock; bin += kThreads) {
    atomicAdd(&bins[cluster.block_rank() * kBinsPerBlock + bin], mine[bin]);
  }
}

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 4000);
  Random random(36);
  std::vector<int> values(static_cast<std::size_t>(count));
  std::vector<int> expected(kBins);
  for (int& value : values) {
    value = random.below(kBins);
    ++expected[value];
  }
  const DeviceArray<int> device_values(values);
  const DeviceArray<int> bins(kBins);
  histogram<<<2 * kCluster, kThreads>>>(device_values.data(), count, bins.data());
  CUDA_CHECK(cudaGetLastError());
  expect_equal("bin", bins.host(), expected);
  return result();
}
