// Launch attributes, events of launches, and what the runtime says of kernels and pointers.
#include <cstring>

#include <cooperative_groups.h>

#include "check.h"

__global__ void add(int* cells, int value) {
  atomicAdd(cells + blockIdx.x, value);
}

__global__ void meet(int* cells) {
  cells[blockIdx.x] = 1;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    cells[0] = cells[1] + cells[2] + cells[3];
  }
}

int main() {
  int* cells;
  EXPECT(cudaMallocManaged(&cells, 64) == cudaSuccess);
  std::memset(cells, 0, 64);
  cudaStream_t stream;
  EXPECT(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1) == cudaSuccess);
  cudaEvent_t event;
  EXPECT(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);

  cudaLaunchAttribute attributes[5]{};
  attributes[0].id = cudaLaunchAttributePriority;
  attributes[0].val.priority = -1;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  attributes[2].id = cudaLaunchAttributeLaunchCompletionEvent;
  attributes[2].val.launchCompletionEvent.event = event;
  attributes[3].id = cudaLaunchAttributeClusterDimension;
  attributes[3].val.clusterDim.x = 1;
  attributes[3].val.clusterDim.y = 1;
  attributes[3].val.clusterDim.z = 1;
  attributes[4].id = cudaLaunchAttributeIgnore;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(4);
  config.blockDim = dim3(32);
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = 5;
  EXPECT(cudaLaunchKernelEx(&config, add, cells, 2) == cudaSuccess);
  EXPECT(cudaEventSynchronize(event) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && cells[3] == 64);
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  config.numAttrs = 1;
  EXPECT(cudaLaunchKernelEx(&config, meet, cells) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && cells[0] == 3);
  config.gridDim = dim3(1 << 20);
  EXPECT(cudaLaunchKernelEx(&config, meet, cells) == cudaErrorCooperativeLaunchTooLarge);
  config.gridDim = dim3(3);
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = 2;
  attributes[0].val.clusterDim.y = 1;
  attributes[0].val.clusterDim.z = 1;
  EXPECT(cudaLaunchKernelEx(&config, add, cells, 2) == cudaErrorInvalidClusterSize);
  cudaGetLastError();

  // The attributes of a captured kernel are its node's, and can be changed there.
  cudaGraph_t graph;
  config.gridDim = dim3(4);
  attributes[0].id = cudaLaunchAttributePriority;
  attributes[0].val.priority = -2;
  EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  EXPECT(cudaLaunchKernelEx(&config, add, cells, 2) == cudaSuccess);
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  cudaGraphNode_t node;
  size_t count = 1;
  EXPECT(cudaGraphGetNodes(graph, &node, &count) == cudaSuccess && count == 1);
  cudaLaunchAttributeValue value;
  EXPECT(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value) == cudaSuccess);
  EXPECT(value.priority == -2);
  value.priority = -3;
  EXPECT(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value) == cudaSuccess);
  EXPECT(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value) == cudaSuccess);
  EXPECT(value.priority == -3);
  value = {};
  value.clusterDim.x = 3;
  value.clusterDim.y = 1;
  value.clusterDim.z = 1;
  EXPECT(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value) ==
         cudaErrorInvalidClusterSize);
  cudaGetLastError();

  int blocks = 0, size = 0, grid = 0;
  EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 1024, 0) == cudaSuccess);
  EXPECT(blocks == 2);
  EXPECT(cudaOccupancyMaxPotentialBlockSize(&grid, &size, add) == cudaSuccess && size == 1024);
  cudaMemLocation here{cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool, same;
  EXPECT(cudaMemGetDefaultMemPool(&pool, &here, cudaMemAllocationTypePinned) == cudaSuccess);
  EXPECT(cudaDeviceGetDefaultMemPool(&same, 0) == cudaSuccess && pool == same);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  return 0;
}
