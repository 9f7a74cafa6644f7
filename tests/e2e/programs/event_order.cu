// Orders that come of events in less usual ways, one by argument: of nodes of graphs, of a time
// that is read, of an event whose handle another one had. The second argument: is it there?
//
// expect race: race inter-kernel global
// expect fixed: none
#include <cstring>

#include "graph_check.h"

__global__ void fill(int* cells, int value) {
  cells[blockIdx.x * blockDim.x + threadIdx.x] = value;  // RACE
}

__global__ void add(int* cells, int value) {
  cells[blockIdx.x * blockDim.x + threadIdx.x] += value;  // RACE
}

struct Work {
  int* cells;
  cudaStream_t first, second;
  cudaEvent_t event;
  bool is_fixed;
};

void fill_first(const Work& work) {
  fill<<<kBlocks, kThreads, 0, work.first>>>(work.cells, 1);
}

void add_second(const Work& work) {
  add<<<kBlocks, kThreads, 0, work.second>>>(work.cells, 1);
}

cudaGraphNode_t add_kernel(cudaGraph_t graph, void (*kernel)(int*, int), int* cells,
                           const cudaGraphNode_t* before) {
  int value = 1;
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

cudaGraphExec_t make_executable(cudaGraph_t graph) {
  cudaGraphExec_t executable;
  CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
  return executable;
}

// The graph records the event behind its kernel, or beside it.
void record_in_graph(const Work& work, cudaEvent_t event, cudaEvent_t later) {
  cudaGraph_t graph;
  cudaGraphNode_t recorded;
  CUDA_CHECK(cudaGraphCreate(&graph, 0));
  const cudaGraphNode_t filled = add_kernel(graph, fill, work.cells, nullptr);
  CUDA_CHECK(cudaGraphAddEventRecordNode(&recorded, graph, &filled, work.is_fixed ? 1 : 0, event));
  const cudaGraphExec_t executable = make_executable(graph);
  if (later != nullptr) {
    CUDA_CHECK(cudaGraphExecEventRecordNodeSetEvent(executable, recorded, later));
  }
  CUDA_CHECK(cudaGraphLaunch(executable, work.first));
  CUDA_CHECK(cudaStreamWaitEvent(work.second, work.event));
  add_second(work);
}

// The kernel of the graph waits for the event, or the node that does so is beside it.
void wait_in_graph(const Work& work, cudaEvent_t event, cudaEvent_t later) {
  cudaGraph_t graph;
  cudaGraphNode_t waited;
  CUDA_CHECK(cudaGraphCreate(&graph, 0));
  CUDA_CHECK(cudaGraphAddEventWaitNode(&waited, graph, nullptr, 0, event));
  add_kernel(graph, add, work.cells, work.is_fixed ? &waited : nullptr);
  const cudaGraphExec_t executable = make_executable(graph);
  if (later != nullptr) {
    CUDA_CHECK(cudaGraphExecEventWaitNodeSetEvent(executable, waited, later));
  }
  fill_first(work);
  CUDA_CHECK(cudaEventRecord(work.event, work.first));
  CUDA_CHECK(cudaGraphLaunch(executable, work.second));
}

// A capture that records the event for those outside it; one for those inside it does not.
void record_in_capture(const Work& work) {
  cudaGraph_t graph;
  CUDA_CHECK(cudaStreamBeginCapture(work.first, cudaStreamCaptureModeThreadLocal));
  if (!work.is_fixed) {
    CUDA_CHECK(cudaEventRecordWithFlags(work.event, work.first, cudaEventRecordExternal));
  }
  fill_first(work);
  if (work.is_fixed) {
    CUDA_CHECK(cudaEventRecordWithFlags(work.event, work.first, cudaEventRecordExternal));
  }
  CUDA_CHECK(cudaStreamEndCapture(work.first, &graph));
  CUDA_CHECK(cudaGraphLaunch(make_executable(graph), work.first));
  CUDA_CHECK(cudaStreamWaitEvent(work.second, work.event));
  add_second(work);
}

// The event was recorded before, elsewhere; a replay records it again.
void record_again_in_graph(const Work& work) {
  fill_first(work);
  CUDA_CHECK(cudaEventRecord(work.event, work.first));
  if (!work.is_fixed) {
    cudaGraph_t graph;
    cudaGraphNode_t recorded;
    CUDA_CHECK(cudaGraphCreate(&graph, 0));
    CUDA_CHECK(cudaGraphAddEventRecordNode(&recorded, graph, nullptr, 0, work.event));
    CUDA_CHECK(cudaGraphLaunch(make_executable(graph), work.second));
  }
  CUDA_CHECK(cudaStreamWaitEvent(work.second, work.event));
  add_second(work);
}

// A time between two events is known when both are over.
void read_time(const Work& work) {
  cudaEvent_t end;
  CUDA_CHECK(cudaEventCreate(&end));
  CUDA_CHECK(cudaEventRecord(work.event, work.is_fixed ? work.first : work.second));
  fill_first(work);
  CUDA_CHECK(cudaEventRecord(end, work.is_fixed ? work.first : work.second));
  float milliseconds = 0;
  while (cudaEventElapsedTime(&milliseconds, work.event, end) == cudaErrorNotReady) {
  }
  add_second(work);
}

// A new event, which mostly gets the handle of one that is gone, was never recorded.
void wait_for_new(const Work& work) {
  cudaEvent_t event;
  CUDA_CHECK(cudaEventCreate(&event));
  fill_first(work);
  CUDA_CHECK(cudaEventRecord(event, work.first));
  if (!work.is_fixed) {
    CUDA_CHECK(cudaEventDestroy(event));
    CUDA_CHECK(cudaEventCreate(&event));
  }
  CUDA_CHECK(cudaStreamWaitEvent(work.second, event));
  add_second(work);
}

// A copy from device to device that calls itself one between peers waits for all streams.
void copy_to_peer(const Work& work) {
  int* copy;
  CUDA_CHECK(cudaMalloc(&copy, kCount * sizeof(int)));
  fill_first(work);
  if (work.is_fixed) {
    CUDA_CHECK(cudaMemcpyPeer(copy, 0, work.cells, 0, kCount * sizeof(int)));
  }
  add_second(work);
}

int main(int argc, char** argv) {
  Work work{};
  work.cells = make_cells();
  work.is_fixed = argc > 2 && std::strcmp(argv[2], "fixed") == 0;
  cudaEvent_t other;
  CUDA_CHECK(cudaStreamCreateWithFlags(&work.first, cudaStreamNonBlocking));
  CUDA_CHECK(cudaStreamCreateWithFlags(&work.second, cudaStreamNonBlocking));
  CUDA_CHECK(cudaEventCreate(&work.event));
  CUDA_CHECK(cudaEventCreate(&other));
  CUDA_CHECK(cudaDeviceSynchronize());
  switch (argc > 1 ? std::atoi(argv[1]) : 0) {
    case 0:
      record_in_graph(work, work.event, nullptr);
      break;
    case 1:
      record_in_graph(work, other, work.event);
      break;
    case 2:
      wait_in_graph(work, work.event, nullptr);
      break;
    case 3:
      wait_in_graph(work, other, work.event);
      break;
    case 4:
      record_in_capture(work);
      break;
    case 5:
      record_again_in_graph(work);
      break;
    case 6:
      read_time(work);
      break;
    case 7:
      wait_for_new(work);
      break;
    default:
      copy_to_peer(work);
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  finish_cells(work.cells, 2);
  return 0;  // the result depends on the schedule
}
