// Two executable graphs that add to the same cells are replayed in two streams.
// expect: race inter-kernel global
#include "graph_check.h"

__global__ void add(int* cells, int value) {
  cells[blockIdx.x * blockDim.x + threadIdx.x] += value;  // RACE
}

int main() {
  int* const cells = make_cells();
  cudaStream_t stream, other;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CUDA_CHECK(cudaDeviceSynchronize());
  cudaGraph_t graph;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  add<<<kBlocks, kThreads, 0, stream>>>(cells, 1);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));

  cudaGraphExec_t first, second;
  CUDA_CHECK(cudaGraphInstantiate(&first, graph, 0));
  CUDA_CHECK(cudaGraphInstantiate(&second, graph, 0));
  CUDA_CHECK(cudaGraphLaunch(first, stream));
  CUDA_CHECK(cudaGraphLaunch(second, other));
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaGraphExecDestroy(first));
  CUDA_CHECK(cudaGraphExecDestroy(second));
  CUDA_CHECK(cudaGraphDestroy(graph));
  finish_cells(cells, 2);
  return 0;  // the result depends on the schedule
}
