// The copy is over when the graph is replayed.
// expect: none
// flags: -g
#include "graph_beside_copy.h"

__global__ void read(const int* cells, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = cells[i];
}

int main() {
  Replays replays = make_replays([](cudaStream_t stream, const int* cells, int* out) {
    read<<<kBlocks, kThreads, 0, stream>>>(cells, out);
  });
  CUDA_CHECK(
      cudaMemcpyAsync(replays.cells, replays.host, kBytes, cudaMemcpyHostToDevice, replays.other));
  CUDA_CHECK(cudaStreamSynchronize(replays.other));
  CUDA_CHECK(cudaGraphLaunch(replays.graph, replays.stream));
  finish(replays);
  return 0;
}
