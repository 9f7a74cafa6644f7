// Work captured from streams into graphs; built also with -default-stream per-thread.
#include <thread>

#include "check.h"

__global__ void append(int* cells, int* length, int value) {
  cells[(*length)++] = value;
}

__global__ void trap() {
  asm("trap;");
}

void CUDART_CB count_call(void* calls) {
  ++*static_cast<int*>(calls);
}

cudaStreamCaptureStatus status_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status;
  EXPECT(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
  return status;
}

void capture_fork(cudaStream_t main_stream, cudaStream_t side, cudaEvent_t fork, cudaEvent_t join,
                  int* cells, int* length, cudaGraph_t* graph, int first) {
  EXPECT(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  append<<<1, 1, 0, main_stream>>>(cells, length, first);
  EXPECT(cudaEventRecord(fork, main_stream) == cudaSuccess);
  EXPECT(cudaStreamWaitEvent(side, fork, 0) == cudaSuccess);
  EXPECT(status_of(side) == cudaStreamCaptureStatusActive);
  append<<<1, 1, 0, side>>>(cells, length, first + 1);
  EXPECT(cudaEventRecord(join, side) == cudaSuccess);
  EXPECT(cudaStreamWaitEvent(main_stream, join, 0) == cudaSuccess);
  append<<<1, 1, 0, main_stream>>>(cells, length, first + 2);
  EXPECT(cudaStreamEndCapture(main_stream, graph) == cudaSuccess);
  EXPECT(status_of(side) == cudaStreamCaptureStatusNone);
}

int main() {
  int *cells, *length;
  EXPECT(cudaMallocManaged(&cells, 64 * sizeof(int)) == cudaSuccess);
  EXPECT(cudaMallocManaged(&length, sizeof(int)) == cudaSuccess);
  *length = 0;
  cudaStream_t first, second;
  EXPECT(cudaStreamCreate(&first) == cudaSuccess);
  EXPECT(cudaStreamCreate(&second) == cudaSuccess);
  cudaEvent_t fork, join;
  EXPECT(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming) == cudaSuccess);
  EXPECT(cudaEventCreateWithFlags(&join, cudaEventDisableTiming) == cudaSuccess);

  // Fork and join; nothing runs before the launch.
  cudaGraph_t graph;
  capture_fork(first, second, fork, join, cells, length, &graph, 1);
  EXPECT(*length == 0);
  EXPECT(cudaEventQuery(fork) == cudaErrorCapturedEvent);
  EXPECT(cudaGetLastError() == cudaErrorCapturedEvent);
  size_t nodes = 0, edges = 0;
  EXPECT(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess && nodes == 3);
  EXPECT(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges) == cudaSuccess && edges == 3);
  cudaGraphExec_t executable;
  EXPECT(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  for (int i = 0; i < 2; ++i) {
    EXPECT(cudaGraphLaunch(executable, first) == cudaSuccess);
  }
  EXPECT(cudaStreamSynchronize(first) == cudaSuccess);
  EXPECT(*length == 6 && cells[3] == 1 && cells[4] == 2 && cells[5] == 3);

  // The same work captured again updates the executable graph.
  cudaGraph_t again;
  capture_fork(first, second, fork, join, cells, length, &again, 11);
  cudaGraphExecUpdateResultInfo info;
  EXPECT(cudaGraphExecUpdate(executable, again, &info) == cudaSuccess);
  EXPECT(info.result == cudaGraphExecUpdateSuccess);
  *length = 0;
  EXPECT(cudaGraphLaunch(executable, first) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(first) == cudaSuccess && cells[0] == 11 && *length == 3);

  // Copies, memsets, host functions, stream-ordered memory, and an executable graph as a node.
  int calls = 0, taken = 0, given = 42;
  cudaGraph_t mixed;
  EXPECT(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  int* memory;
  EXPECT(cudaMallocAsync(&memory, 64, first) == cudaSuccess);
  EXPECT(cudaMemsetAsync(memory, 0, 64, first) == cudaSuccess);
  EXPECT(cudaMemcpyAsync(memory, &given, sizeof given, cudaMemcpyHostToDevice, first) ==
         cudaSuccess);
  append<<<1, 1, 0, first>>>(cells, memory, 5);  // cells[42], and memory[0] is 43
  EXPECT(cudaMemcpyAsync(&taken, memory, sizeof taken, cudaMemcpyDeviceToHost, first) ==
         cudaSuccess);
  EXPECT(cudaLaunchHostFunc(first, count_call, &calls) == cudaSuccess);
  EXPECT(cudaFreeAsync(memory, first) == cudaSuccess);
  EXPECT(cudaGraphLaunch(executable, first) == cudaSuccess);
  unsigned long long id = 0;
  cudaStreamCaptureStatus status;
  cudaGraph_t current;
  const cudaGraphNode_t* after;
  size_t after_count = 0;
  EXPECT(cudaStreamGetCaptureInfo(first, &status, &id, &current, &after, nullptr, &after_count) ==
         cudaSuccess);
  EXPECT(status == cudaStreamCaptureStatusActive && id != 0 && after_count == 1);
  cudaGraphNodeType type;
  EXPECT(cudaGraphNodeGetType(*after, &type) == cudaSuccess && type == cudaGraphNodeTypeGraph);
  EXPECT(cudaStreamEndCapture(first, &mixed) == cudaSuccess && mixed == current);
  EXPECT(calls == 0 && taken == 0);
  cudaGraphExec_t mixed_executable;
  EXPECT(cudaGraphInstantiate(&mixed_executable, mixed, 0) == cudaSuccess);
  given = 30;  // read when the graph runs
  *length = 0;
  EXPECT(cudaGraphLaunch(mixed_executable, second) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(second) == cudaSuccess);
  EXPECT(calls == 1 && taken == 31 && cells[30] == 5 && *length == 3);
  EXPECT(cudaGraphExecUpdate(executable, mixed, &info) == cudaErrorGraphExecUpdateFailure);
  EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT(cudaGetLastError() == cudaErrorGraphExecUpdateFailure);

  // What a capture cannot hold ends it.
  EXPECT(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(first) == cudaErrorStreamCaptureUnsupported);
  EXPECT(status_of(first) == cudaStreamCaptureStatusInvalidated);
  EXPECT(cudaStreamEndCapture(first, &current) == cudaErrorStreamCaptureInvalidated);
  EXPECT(current == nullptr && status_of(first) == cudaStreamCaptureStatusNone);
  EXPECT(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaSuccess);
  void* unsafe;
  EXPECT(cudaMalloc(&unsafe, 16) == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(first, &current) == cudaErrorStreamCaptureInvalidated);
  EXPECT(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  EXPECT(cudaMalloc(&unsafe, 16) == cudaSuccess);
  EXPECT(cudaMemcpyAsync(unsafe, &given, 4, cudaMemcpyHostToDevice, cudaStreamLegacy) ==
         cudaErrorStreamCaptureImplicit);
  EXPECT(cudaStreamEndCapture(first, &current) == cudaErrorStreamCaptureInvalidated);
  EXPECT(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal) ==
         cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(second, &current) == cudaErrorIllegalState);
  EXPECT(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaSuccess);
  EXPECT(cudaEventRecord(fork, first) == cudaSuccess);
  EXPECT(cudaStreamWaitEvent(second, fork, 0) == cudaSuccess);
  append<<<1, 1, 0, second>>>(cells, length, 0);
  EXPECT(cudaStreamEndCapture(second, &current) == cudaErrorStreamCaptureUnmatched);
  EXPECT(cudaStreamEndCapture(first, &current) == cudaErrorStreamCaptureInvalidated);
  EXPECT(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaSuccess);
  EXPECT(cudaEventRecord(fork, first) == cudaSuccess);
  EXPECT(cudaStreamWaitEvent(second, fork, 0) == cudaSuccess);
  append<<<1, 1, 0, second>>>(cells, length, 0);
  EXPECT(cudaStreamEndCapture(first, &current) == cudaErrorStreamCaptureUnjoined);

  // A stream that took part may be destroyed before the capture ends; what it did must be joined.
  for (const bool joins : {true, false}) {
    cudaStream_t brief;
    EXPECT(cudaStreamCreateWithFlags(&brief, cudaStreamNonBlocking) == cudaSuccess);
    *length = 0;
    EXPECT(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaSuccess);
    append<<<1, 1, 0, first>>>(cells, length, 5);
    EXPECT(cudaEventRecord(fork, first) == cudaSuccess);
    EXPECT(cudaStreamWaitEvent(brief, fork, 0) == cudaSuccess);
    append<<<1, 1, 0, brief>>>(cells, length, 6);
    if (joins) {
      EXPECT(cudaEventRecord(fork, brief) == cudaSuccess);
      EXPECT(cudaStreamWaitEvent(first, fork, 0) == cudaSuccess);
    }
    EXPECT(cudaStreamDestroy(brief) == cudaSuccess);
    append<<<1, 1, 0, first>>>(cells, length, 7);
    if (!joins) {
      EXPECT(cudaStreamEndCapture(first, &current) == cudaErrorStreamCaptureUnjoined);
      break;
    }
    EXPECT(cudaStreamEndCapture(first, &current) == cudaSuccess);
    cudaGraphExec_t joined;
    EXPECT(cudaGraphInstantiate(&joined, current, 0) == cudaSuccess);
    EXPECT(cudaGraphLaunch(joined, first) == cudaSuccess);
    EXPECT(cudaStreamSynchronize(first) == cudaSuccess);
    EXPECT(*length == 3 && cells[0] == 5 && cells[1] == 6 && cells[2] == 7);
    EXPECT(cudaGraphExecDestroy(joined) == cudaSuccess);
    EXPECT(cudaGraphDestroy(current) == cudaSuccess);
  }
  EXPECT(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaSuccess);
  std::thread other([&] {
    cudaGraph_t none;
    EXPECT(cudaStreamEndCapture(first, &none) == cudaErrorStreamCaptureWrongThread);
  });
  other.join();
  EXPECT(cudaStreamEndCapture(first, &current) == cudaSuccess);
  EXPECT(cudaGraphDestroy(current) == cudaSuccess);
  cudaGetLastError();

  // A thread's own default stream can be captured.
  *length = 0;
  EXPECT(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  append<<<1, 1, 0, cudaStreamPerThread>>>(cells, length, 77);
  EXPECT(cudaStreamEndCapture(cudaStreamPerThread, &current) == cudaSuccess && *length == 0);

  // A kernel that fails in a graph fails the context, as any other.
  cudaGraph_t failing;
  cudaGraphExec_t failing_executable;
  EXPECT(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaSuccess);
  trap<<<1, 1, 0, first>>>();
  append<<<1, 1, 0, first>>>(cells, length, 99);
  EXPECT(cudaStreamEndCapture(first, &failing) == cudaSuccess);
  EXPECT(cudaGraphInstantiate(&failing_executable, failing, 0) == cudaSuccess);
  EXPECT(cudaGraphLaunch(failing_executable, first) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(first) == cudaErrorLaunchFailure);
  EXPECT(*length == 0);
  return 0;
}
