// A graph is replayed again and again, each time after the last, and once beside a copy to what its
// kernel reads. That replay gets the launch descriptor of the one before it.
// expect: race kernel-copy global
// flags: -g
#include "graph_beside_copy.h"

__global__ void read(const int* cells, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = cells[i];  // RACE
}

int main() {
  Replays replays = make_replays([](cudaStream_t stream, const int* cells, int* out) {
    read<<<kBlocks, kThreads, 0, stream>>>(cells, out);
  });
  CUDA_CHECK(cudaMemcpyAsync(replays.cells, replays.host, kBytes, cudaMemcpyHostToDevice,  // RACE
                             replays.other));
  CUDA_CHECK(cudaGraphLaunch(replays.graph, replays.stream));
  finish(replays);
  return 0;
}
