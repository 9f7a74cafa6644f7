// A graph of one kernel that was replayed so often, each time after the last, that its stream is
// taken to have no rival, and another stream.
#pragma once

#include "graph_check.h"

constexpr int kBytes = kBlocks * kThreads * sizeof(int);

struct Replays {
  cudaStream_t stream, other;
  cudaGraphExec_t graph;
  int *cells, *out, *host;
};

template <typename Launch>
Replays make_replays(const Launch& launch) {
  Replays made;
  CUDA_CHECK(cudaStreamCreateWithFlags(&made.stream, cudaStreamNonBlocking));
  CUDA_CHECK(cudaStreamCreateWithFlags(&made.other, cudaStreamNonBlocking));
  CUDA_CHECK(cudaMalloc(&made.cells, kBytes));
  CUDA_CHECK(cudaMalloc(&made.out, kBytes));
  CUDA_CHECK(cudaMallocHost(&made.host, kBytes));
  CUDA_CHECK(cudaMemset(made.cells, 0, kBytes));
  CUDA_CHECK(cudaDeviceSynchronize());
  cudaGraph_t graph;
  CUDA_CHECK(cudaStreamBeginCapture(made.stream, cudaStreamCaptureModeThreadLocal));
  launch(made.stream, made.cells, made.out);
  CUDA_CHECK(cudaStreamEndCapture(made.stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&made.graph, graph, 0));
  for (int i = 0; i < 40; ++i) {
    CUDA_CHECK(cudaGraphLaunch(made.graph, made.stream));
    CUDA_CHECK(cudaStreamSynchronize(made.stream));
  }
  return made;
}

inline void finish(const Replays& replays) {
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaGraphExecDestroy(replays.graph));
  CUDA_CHECK(cudaFreeHost(replays.host));
}
