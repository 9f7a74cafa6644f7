// SHOC's breadth-first search: a warp takes a chunk of nodes, copies their levels to shared memory,
// and its lanes walk the edges of one node after another. Unvisited neighbours get their level and
// a flag is set, by any number of threads at once, without atomics.
//
// expect: race inter-block global
#include <algorithm>
#include <queue>

#include "benchmark_program.h"

constexpr int kThreads = 128;
constexpr int kChunk = 32;
constexpr unsigned int kUnvisited = ~0U;

__global__ void expand(unsigned int* levels, const int* first_edge, const int* edges, int count,
                       unsigned int current, int* flag) {
  __shared__ unsigned int chunk_levels[kThreads / 32][kChunk];
  __shared__ int chunk_edges[kThreads / 32][kChunk + 1];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int start = (blockIdx.x * (kThreads / 32) + warp) * kChunk;
  const int size = min(kChunk, count - start);
  for (int i = lane; i < size; i += 32) {
    chunk_levels[warp][i] = levels[start + i];  // RACE
  }
  for (int i = lane; i <= size; i += 32) {
    chunk_edges[warp][i] = first_edge[start + i];
  }
  __syncwarp();
  for (int node = 0; node < size; ++node) {
    if (chunk_levels[warp][node] != current) {
      continue;
    }
    for (int e = chunk_edges[warp][node] + lane; e < chunk_edges[warp][node + 1]; e += 32) {
      const int neighbour = edges[e];
      if (levels[neighbour] == kUnvisited) {  // RACE
        levels[neighbour] = current + 1;      // RACE
        *flag = 1;                            // RACE
      }
    }
  }
}

std::vector<unsigned int> breadth_first(const std::vector<int>& first_edge,
                                        const std::vector<int>& edges) {
  std::vector<unsigned int> levels(first_edge.size() - 1, kUnvisited);
  std::queue<int> queue({0});
  levels[0] = 0;
  while (!queue.empty()) {
    const int node = queue.front();
    queue.pop();
    for (int e = first_edge[node]; e < first_edge[node + 1]; ++e) {
      if (levels[edges[e]] == kUnvisited) {
        levels[edges[e]] = levels[node] + 1;
        queue.push(edges[e]);
      }
    }
  }
  return levels;
}

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 2000);
  Random random(32);
  std::vector<int> first_edge{0};
  std::vector<int> edges;
  for (int node = 0; node < count; ++node) {
    for (int e = 1 + random.below(40); e > 0; --e) {
      edges.push_back(random.below(count));
    }
    first_edge.push_back(static_cast<int>(edges.size()));
  }
  std::vector<unsigned int> levels(static_cast<std::size_t>(count), kUnvisited);
  levels[0] = 0;
  const DeviceArray<unsigned int> device_levels(levels);
  const DeviceArray<int> device_first_edge(first_edge);
  const DeviceArray<int> device_edges(edges);
  const DeviceArray<int> flag(1);
  const int blocks = (count + kThreads - 1) / kThreads;
  int again = 1;
  for (unsigned int level = 0; again != 0; ++level) {
    CUDA_CHECK(cudaMemset(flag.data(), 0, sizeof(int)));
    expand<<<blocks, kThreads>>>(device_levels.data(), device_first_edge.data(),
                                 device_edges.data(), count, level, flag.data());
    CUDA_CHECK(cudaGetLastError());
    again = flag.host()[0];
  }
  expect_equal("level", device_levels.host(), breadth_first(first_edge, edges));
  return result();
}
