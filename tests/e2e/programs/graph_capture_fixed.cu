// Captured streams that fork after the fill; the second stream's addition waits for the first's,
// and the streams join. A kernel that does nothing, and has nothing to log, is among them. The
// graph is run twice, one replay after the other.
//
// expect: none
#include "graph_check.h"

__global__ void fill(int* cells, int value) {
  cells[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add(int* cells, int value) {
  cells[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

__global__ void do_nothing() {}

int main() {
  int* const cells = make_cells();
  cudaStream_t stream, other;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaStreamCreate(&other));
  cudaEvent_t forked, joined;
  CUDA_CHECK(cudaEventCreate(&forked));
  CUDA_CHECK(cudaEventCreate(&joined));

  cudaGraph_t graph;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  fill<<<kBlocks, kThreads, 0, stream>>>(cells, 1);
  do_nothing<<<1, 1, 0, stream>>>();
  CUDA_CHECK(cudaEventRecord(forked, stream));
  CUDA_CHECK(cudaStreamWaitEvent(other, forked, 0));
  add<<<kBlocks, kThreads, 0, stream>>>(cells, 2);
  CUDA_CHECK(cudaEventRecord(forked, stream));
  CUDA_CHECK(cudaStreamWaitEvent(other, forked, 0));
  add<<<kBlocks, kThreads, 0, other>>>(cells, 4);
  CUDA_CHECK(cudaEventRecord(joined, other));
  CUDA_CHECK(cudaStreamWaitEvent(stream, joined, 0));
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));

  cudaGraphExec_t executable;
  CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CUDA_CHECK(cudaGraphLaunch(executable, stream));
  CUDA_CHECK(cudaGraphLaunch(executable, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaGraphExecDestroy(executable));
  CUDA_CHECK(cudaGraphDestroy(graph));
  return finish_cells(cells, 7);
}
