// A graph made node by node: a kernel in a graph inside and a kernel beside it both follow the
// fill, and nothing orders the two.
//
// expect: race inter-kernel global
#include "graph_check.h"

__global__ void fill(int* cells, int value) {
  cells[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add(int* cells, int value) {
  cells[blockIdx.x * blockDim.x + threadIdx.x] += value;  // RACE
}

static cudaGraphNode_t add_node(cudaGraph_t graph, const cudaGraphNode_t* before,
                                void (*kernel)(int*, int), int* cells, int value) {
  void* arguments[] = {&cells, &value};
  cudaKernelNodeParams parameters = {};
  parameters.func = reinterpret_cast<void*>(kernel);
  parameters.gridDim = dim3(kBlocks);
  parameters.blockDim = dim3(kThreads);
  parameters.kernelParams = arguments;
  cudaGraphNode_t node;
  CUDA_CHECK(cudaGraphAddKernelNode(&node, graph, before, before == nullptr ? 0 : 1, &parameters));
  return node;
}

int main() {
  int* const cells = make_cells();
  cudaGraph_t graph, child;
  CUDA_CHECK(cudaGraphCreate(&graph, 0));
  CUDA_CHECK(cudaGraphCreate(&child, 0));
  add_node(child, nullptr, add, cells, 2);
  const cudaGraphNode_t filled = add_node(graph, nullptr, fill, cells, 1);
  cudaGraphNode_t inside;
  CUDA_CHECK(cudaGraphAddChildGraphNode(&inside, graph, &filled, 1, child));
  CUDA_CHECK(cudaGraphDestroy(child));
  add_node(graph, &filled, add, cells, 4);

  cudaGraphExec_t executable;
  CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaGraphLaunch(executable, nullptr));
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaGraphExecDestroy(executable));
  finish_cells(cells, 7);
  return 0;  // the result depends on the schedule
}
