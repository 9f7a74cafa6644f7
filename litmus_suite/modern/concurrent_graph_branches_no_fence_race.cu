// Two branches of a graph: one waits for the other's flag, which no fence keeps behind its data.
// expect: race inter-kernel global
// weak: fails
#include "../cells.h"

__global__ void consume(int* x, int* flag, int* out) {
  while (atomicAdd(flag, 0) == 0) {
  }
  __threadfence();
  out[0] = x[0];  // RACE
}

__global__ void produce(int* x, int* flag) {
  x[0] = 42;  // RACE
  atomicExch(flag, 1);
}

int main() {
  Cells cells;
  cudaStream_t streams[2];
  cudaEvent_t begun, done;
  if (!make_cells(cells) || !succeeded(cudaStreamCreate(&streams[0])) ||
      !succeeded(cudaStreamCreate(&streams[1])) || !succeeded(cudaEventCreate(&begun)) ||
      !succeeded(cudaEventCreate(&done)) ||
      !succeeded(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal)) ||
      !succeeded(cudaEventRecord(begun, streams[0])) ||
      !succeeded(cudaStreamWaitEvent(streams[1], begun, 0))) {
    return 1;
  }
  consume<<<1, 1, 0, streams[0]>>>(cells.x, cells.flag, cells.out);
  produce<<<1, 1, 0, streams[1]>>>(cells.x, cells.flag);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  if (!succeeded(cudaEventRecord(done, streams[1])) ||
      !succeeded(cudaStreamWaitEvent(streams[0], done, 0)) ||
      !succeeded(cudaStreamEndCapture(streams[0], &graph)) ||
      !succeeded(cudaGraphInstantiate(&executable, graph, 0)) ||
      !succeeded(cudaGraphLaunch(executable, streams[0]))) {
    return 1;
  }
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
