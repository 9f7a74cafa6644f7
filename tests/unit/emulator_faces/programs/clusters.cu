// Clusters of blocks, asked for by the launch, by the kernel, and in a captured launch.
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

// Each block reads the shared memory of the next one in its cluster.
__device__ void pass_on(int* cells) {
  __shared__ int mine;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    mine = static_cast<int>(blockIdx.x);
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    cells[blockIdx.x] = *cluster.map_shared_rank(&mine, next);
  }
  cluster.sync();
}

__global__ void any_cluster(int* cells) {
  pass_on(cells);
}

__global__ void __cluster_dims__(2, 1, 1) pairs(int* cells) {
  pass_on(cells);
}

bool is_ring(const int* cells, int blocks, int size) {
  for (int i = 0; i < blocks; ++i) {
    if (cells[i] != i / size * size + (i + 1) % size) {
      return false;
    }
  }
  return true;
}

int main() {
  int has_clusters = 0;
  EXPECT(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, 0) == cudaSuccess);
  EXPECT(has_clusters == 1);
  int* cells;
  EXPECT(cudaMallocManaged(&cells, 8 * sizeof(int)) == cudaSuccess);
  cudaStream_t stream;
  EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 4;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(8);
  config.blockDim = dim3(32);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT(cudaLaunchKernelEx(&config, any_cluster, cells) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && is_ring(cells, 8, 4));
  pairs<<<8, 32, 0, stream>>>(cells);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && is_ring(cells, 8, 2));
  cudaFuncAttributes attributes;
  EXPECT(cudaFuncGetAttributes(&attributes, pairs) == cudaSuccess);
  EXPECT(attributes.clusterDimMustBeSet == 1 && attributes.requiredClusterWidth == 2);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  EXPECT(cudaLaunchKernelEx(&config, any_cluster, cells) == cudaSuccess);
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  EXPECT(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  EXPECT(cudaGraphLaunch(executable, stream) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && is_ring(cells, 8, 4));
  return 0;
}
