// Graphs built node by node: every kind of node, copies of graphs, changes of executable graphs.
#include <vector>

#include "check.h"

__constant__ int offset_by = 100;

__global__ void add(int* cells, int count, int value) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) {
    cells[index] += value;
  }
}

__global__ void add_offset(int* cells, int count) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) {
    cells[index] += offset_by;
  }
}

constexpr int kCount = 64;

void CUDART_CB count_call(void* calls) {
  ++*static_cast<int*>(calls);
}

cudaKernelNodeParams kernel_node(void* function, void** arguments) {
  cudaKernelNodeParams parameters{};
  parameters.func = function;
  parameters.gridDim = dim3(2);
  parameters.blockDim = dim3(32);
  parameters.kernelParams = arguments;
  return parameters;
}

int main() {
  int* cells;
  EXPECT(cudaMalloc(&cells, kCount * sizeof(int)) == cudaSuccess);
  std::vector<int> result(kCount, -1);
  cudaGraph_t graph;
  EXPECT(cudaGraphCreate(&graph, 0) == cudaSuccess);

  cudaGraphNode_t clear, first, second, host, copy, empty;
  cudaMemsetParams fill{};
  fill.dst = cells;
  fill.elementSize = 4;
  fill.width = kCount;
  fill.height = 1;
  fill.value = 7;
  EXPECT(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill) == cudaSuccess);
  int count = kCount, value = 5;
  void* arguments[] = {&cells, &count, &value};
  cudaKernelNodeParams node = kernel_node((void*)add, arguments);
  EXPECT(cudaGraphAddKernelNode(&first, graph, &clear, 1, &node) == cudaSuccess);
  value = 1000;  // the node has a copy
  void* offset_arguments[] = {&cells, &count};
  cudaKernelNodeParams offset_node = kernel_node((void*)add_offset, offset_arguments);
  EXPECT(cudaGraphAddKernelNode(&second, graph, nullptr, 0, &offset_node) == cudaSuccess);
  EXPECT(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1) == cudaSuccess);
  EXPECT(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1) == cudaErrorInvalidValue);
  int calls = 0;
  cudaHostNodeParams call{count_call, &calls};
  EXPECT(cudaGraphAddHostNode(&host, graph, &second, 1, &call) == cudaSuccess);
  EXPECT(cudaGraphAddMemcpyNode1D(&copy, graph, &host, 1, result.data(), cells,
                                  kCount * sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess);
  EXPECT(cudaGraphAddEmptyNode(&empty, graph, &copy, 1) == cudaSuccess);

  size_t nodes = 0, edges = 0, roots = 1;
  EXPECT(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess && nodes == 6);
  EXPECT(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges) == cudaSuccess && edges == 5);
  cudaGraphNode_t root;
  EXPECT(cudaGraphGetRootNodes(graph, &root, &roots) == cudaSuccess && root == clear && roots == 1);
  cudaGraphNodeType type;
  EXPECT(cudaGraphNodeGetType(copy, &type) == cudaSuccess && type == cudaGraphNodeTypeMemcpy);
  cudaKernelNodeParams known;
  EXPECT(cudaGraphKernelNodeGetParams(first, &known) == cudaSuccess);
  EXPECT(known.func == (void*)add && *static_cast<int*>(known.kernelParams[2]) == 5);
  EXPECT(known.gridDim.x == 2 && known.blockDim.x == 32);

  cudaStream_t stream;
  EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
  cudaGraphExec_t executable;
  EXPECT(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  EXPECT(calls == 0 && result[0] == -1);
  EXPECT(cudaGraphLaunch(executable, stream) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  EXPECT(calls == 1 && result[0] == 112 && result[kCount - 1] == 112);

  // Only this executable graph changes.
  value = 50;
  EXPECT(cudaGraphExecKernelNodeSetParams(executable, first, &node) == cudaSuccess);
  fill.value = 1;
  EXPECT(cudaGraphExecMemsetNodeSetParams(executable, clear, &fill) == cudaSuccess);
  EXPECT(cudaGraphNodeSetEnabled(executable, second, 0) == cudaSuccess);
  EXPECT(cudaGraphNodeSetEnabled(executable, host, 0) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT(cudaGraphLaunch(executable, stream) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  EXPECT(calls == 2 && result[0] == 51);
  EXPECT(cudaGraphKernelNodeGetParams(first, &known) == cudaSuccess);
  EXPECT(*static_cast<int*>(known.kernelParams[2]) == 5);

  // A graph in a graph, with its own memory and events.
  cudaGraph_t outer, clone;
  EXPECT(cudaGraphClone(&clone, graph) == cudaSuccess);
  cudaGraphNode_t in_clone;
  EXPECT(cudaGraphNodeFindInClone(&in_clone, first, clone) == cudaSuccess && in_clone != first);
  EXPECT(cudaGraphDestroyNode(in_clone) ==
         cudaSuccess);  // then nothing is added, and `second` has no edge
  EXPECT(cudaGraphDestroy(graph) == cudaSuccess);
  EXPECT(cudaGraphCreate(&outer, 0) == cudaSuccess);
  cudaGraphNode_t child, allocate, use, take, release, record;
  EXPECT(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, clone) == cudaSuccess);
  EXPECT(cudaGraphDestroy(clone) == cudaSuccess);
  cudaMemAllocNodeParams memory{};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = kCount * sizeof(int);
  EXPECT(cudaGraphAddMemAllocNode(&allocate, outer, &child, 1, &memory) == cudaSuccess);
  fill.dst = memory.dptr;
  fill.value = 3;
  EXPECT(cudaGraphAddMemsetNode(&use, outer, &allocate, 1, &fill) == cudaSuccess);
  int taken = 0;
  EXPECT(cudaGraphAddMemcpyNode1D(&take, outer, &use, 1, &taken, memory.dptr, sizeof taken,
                                  cudaMemcpyDeviceToHost) == cudaSuccess);
  EXPECT(cudaGraphAddMemFreeNode(&release, outer, &take, 1, memory.dptr) == cudaSuccess);
  cudaEvent_t event;
  EXPECT(cudaEventCreate(&event) == cudaSuccess);
  EXPECT(cudaGraphAddEventRecordNode(&record, outer, &release, 1, event) == cudaSuccess);
  cudaGraphExec_t outer_executable;
  EXPECT(cudaGraphInstantiateWithFlags(&outer_executable, outer, 0) == cudaSuccess);
  EXPECT(cudaGraphLaunch(outer_executable, stream) == cudaSuccess);
  EXPECT(cudaEventSynchronize(event) == cudaSuccess);
  EXPECT(taken == 3 && calls == 3);
  EXPECT(cudaMemcpy(result.data(), cells, kCount * sizeof(int), cudaMemcpyDeviceToHost) ==
         cudaSuccess);

  // A cycle cannot be made executable.
  cudaGraph_t ring;
  EXPECT(cudaGraphCreate(&ring, 0) == cudaSuccess);
  cudaGraphNode_t a, b;
  EXPECT(cudaGraphAddEmptyNode(&a, ring, nullptr, 0) == cudaSuccess);
  EXPECT(cudaGraphAddEmptyNode(&b, ring, &a, 1) == cudaSuccess);
  EXPECT(cudaGraphAddDependencies(ring, &b, &a, nullptr, 1) == cudaSuccess);
  cudaGraphExec_t none;
  EXPECT(cudaGraphInstantiate(&none, ring, 0) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);

  // A user object lives as long as the graphs that hold it.
  int destroyed = 0;
  cudaUserObject_t object;
  EXPECT(cudaUserObjectCreate(&object, &destroyed, count_call, 1, cudaUserObjectNoDestructorSync) ==
         cudaSuccess);
  EXPECT(cudaGraphRetainUserObject(ring, object, 1, cudaGraphUserObjectMove) == cudaSuccess);
  EXPECT(destroyed == 0);
  EXPECT(cudaGraphDestroy(ring) == cudaSuccess && destroyed == 1);

  EXPECT(cudaGraphExecDestroy(executable) == cudaSuccess);
  EXPECT(cudaGraphExecDestroy(outer_executable) == cudaSuccess);
  EXPECT(cudaGraphDestroy(outer) == cudaSuccess);
  EXPECT(cudaGraphLaunch(executable, stream) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT(cudaFree(cells) == cudaSuccess);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  return 0;
}
