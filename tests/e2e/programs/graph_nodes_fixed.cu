// Graphs made node by node: a graph inside a graph, a clone, other parameters for a node, an update
// from another graph, a disabled node. All nodes stand in a row.
// expect: none
#include "graph_check.h"

__global__ void fill(int* cells, int value) {
  cells[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add(int* cells, int value) {
  cells[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

static cudaKernelNodeParams parameters_of(void (*kernel)(int*, int), void** arguments) {
  cudaKernelNodeParams parameters = {};
  parameters.func = reinterpret_cast<void*>(kernel);
  parameters.gridDim = dim3(kBlocks);
  parameters.blockDim = dim3(kThreads);
  parameters.kernelParams = arguments;
  return parameters;
}

static cudaGraphNode_t add_node(cudaGraph_t graph, const cudaGraphNode_t* before,
                                void (*kernel)(int*, int), int* cells, int value) {
  void* arguments[] = {&cells, &value};
  const cudaKernelNodeParams parameters = parameters_of(kernel, arguments);
  cudaGraphNode_t node;
  CUDA_CHECK(cudaGraphAddKernelNode(&node, graph, before, before == nullptr ? 0 : 1, &parameters));
  return node;
}

struct Chain {
  cudaGraph_t graph;
  cudaGraphNode_t last;
};

// fill, then a graph of one addition, then another addition.
static Chain make_chain(int* cells, int first, int inside, int last) {
  Chain chain;
  CUDA_CHECK(cudaGraphCreate(&chain.graph, 0));
  cudaGraph_t child;
  CUDA_CHECK(cudaGraphCreate(&child, 0));
  add_node(child, nullptr, add, cells, inside);
  const cudaGraphNode_t filled = add_node(chain.graph, nullptr, fill, cells, first);
  cudaGraphNode_t added;
  CUDA_CHECK(cudaGraphAddChildGraphNode(&added, chain.graph, &filled, 1, child));
  CUDA_CHECK(cudaGraphDestroy(child));
  chain.last = add_node(chain.graph, &added, add, cells, last);
  return chain;
}

static void expect_parameters(cudaGraphNode_t node, int* cells, int value) {
  cudaKernelNodeParams parameters = {};
  CUDA_CHECK(cudaGraphKernelNodeGetParams(node, &parameters));
  if (*static_cast<int**>(parameters.kernelParams[0]) != cells ||
      *static_cast<int*>(parameters.kernelParams[1]) != value) {
    std::printf("wrong parameters of a node\n");
    std::exit(1);
  }
}

int main() {
  int* cells = make_cells();
  int* const unused = make_cells();
  const Chain chain = make_chain(unused, 1, 10, 100);
  cudaGraph_t clone;
  CUDA_CHECK(cudaGraphClone(&clone, chain.graph));
  CUDA_CHECK(cudaGraphDestroy(clone));

  cudaGraphExec_t executable;
  CUDA_CHECK(cudaGraphInstantiate(&executable, chain.graph, 0));
  CUDA_CHECK(cudaGraphLaunch(executable, nullptr));
  expect_parameters(chain.last, unused, 100);

  const Chain update = make_chain(cells, 2, 20, 200);
  cudaGraphExecUpdateResultInfo result;
  CUDA_CHECK(cudaGraphExecUpdate(executable, update.graph, &result));
  CUDA_CHECK(cudaGraphDestroy(update.graph));
  CUDA_CHECK(cudaGraphLaunch(executable, nullptr));
  CUDA_CHECK(cudaGraphLaunch(executable, nullptr));

  int value = 300;
  void* arguments[] = {&cells, &value};
  const cudaKernelNodeParams parameters = parameters_of(add, arguments);
  CUDA_CHECK(cudaGraphExecKernelNodeSetParams(executable, chain.last, &parameters));
  CUDA_CHECK(cudaGraphLaunch(executable, nullptr));
  CUDA_CHECK(cudaDeviceSynchronize());
  int first = 0;
  CUDA_CHECK(cudaMemcpy(&first, cells, sizeof first, cudaMemcpyDeviceToHost));

  CUDA_CHECK(cudaGraphNodeSetEnabled(executable, chain.last, 0));
  CUDA_CHECK(cudaGraphLaunch(executable, nullptr));
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaGraphExecDestroy(executable));
  CUDA_CHECK(cudaGraphDestroy(chain.graph));
  CUDA_CHECK(cudaFree(unused));
  if (first != 322) {
    std::printf("wrong: %d instead of 322\n", first);
    return 1;
  }
  return finish_cells(cells, 22);
}
