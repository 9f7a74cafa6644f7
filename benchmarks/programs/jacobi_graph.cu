// Like NVIDIA's jacobiCudaGraphs sample: a dense linear system solved by Jacobi's method, a few
// steps captured as a graph that is replayed until little changes. Blocks take the unknowns through
// shared memory, a warp its rows; it adds what they change to one number, by an atomic. SIZE is the
// unknowns.
//
// expect: none
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "benchmark_program.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 128;
constexpr int kRows = 4;  // of a warp
constexpr int kRowsOfBlock = kRows * kThreads / 32;
constexpr int kChunk = 128;  // unknowns in shared memory
constexpr int kSteps = 4;    // of a graph
constexpr int kMostReplays = 100;
constexpr float kDominance = 0.9F;  // the sum of a row beside its diagonal of ones, about

__global__ void step(const float* matrix, const float* right, const float* from, float* to,
                     float* change, int size) {
  __shared__ float chunk[kChunk];
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const int first_row =
      blockIdx.x * kRowsOfBlock + static_cast<int>(warp.meta_group_rank()) * kRows;
  const int lane = static_cast<int>(warp.thread_rank());
  float sums[kRows] = {};
  for (int begin = 0; begin < size; begin += kChunk) {
    const int length = min(kChunk, size - begin);
    for (int i = static_cast<int>(block.thread_rank()); i < length; i += kThreads) {
      chunk[i] = from[begin + i];
    }
    block.sync();
    for (int k = 0; k < kRows && first_row + k < size; ++k) {
      const float* const row = matrix + static_cast<std::size_t>(first_row + k) * size + begin;
      for (int i = lane; i < length; i += 32) {
        sums[k] += row[i] * chunk[i];
      }
    }
    block.sync();
  }
  float moved = 0;
  for (int k = 0; k < kRows && first_row + k < size; ++k) {
    const float sum = cg::reduce(warp, sums[k], cg::plus<float>());
    const int row = first_row + k;
    if (lane == 0) {
      // The diagonal is 1.
      const float next = right[row] - (sum - from[row]);
      moved += fabsf(next - from[row]);
      to[row] = next;
    }
  }
  if (lane == 0) {
    atomicAdd(change, moved);
  }
}

int main(int argc, char** argv) {
  const int size = size_argument(argc, argv, 150);
  Random random(47);
  std::vector<float> matrix(static_cast<std::size_t>(size) * size);
  std::vector<float> solution(static_cast<std::size_t>(size));
  std::vector<float> right(solution.size());
  for (float& value : solution) {
    value = 1 + random.unit();
  }
  const float scale = 2 * kDominance / static_cast<float>(size);
  for (int i = 0; i < size; ++i) {
    float* const row = &matrix[static_cast<std::size_t>(i) * size];
    double sum = 0;
    for (int k = 0; k < size; ++k) {
      row[k] = i == k ? 1 : scale * random.unit();
      sum += static_cast<double>(row[k]) * solution[k];
    }
    right[i] = static_cast<float>(sum);
  }
  const DeviceArray<float> device_matrix(matrix);
  const DeviceArray<float> device_right(right);
  const DeviceArray<float> first(solution.size());
  const DeviceArray<float> second(solution.size());
  const DeviceArray<float> change(1);

  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < kSteps; ++i) {
    CUDA_CHECK(cudaMemsetAsync(change.data(), 0, sizeof(float), stream));
    step<<<(size + kRowsOfBlock - 1) / kRowsOfBlock, kThreads, 0, stream>>>(
        device_matrix.data(), device_right.data(), i % 2 == 0 ? first.data() : second.data(),
        i % 2 == 0 ? second.data() : first.data(), change.data(), size);
  }
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
  int replays = 0;
  float moved = 1;
  while (moved > 1e-6F && replays < kMostReplays) {
    CUDA_CHECK(cudaGraphLaunch(executable, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    moved = change.host()[0] / static_cast<float>(size);
    ++replays;
  }
  CUDA_CHECK(cudaGraphExecDestroy(executable));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaStreamDestroy(stream));
  expect_close("unknown", first.host(), solution, 1e-4F);
  return result();
}
