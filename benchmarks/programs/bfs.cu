// Rodinia's breadth-first search: a thread per node, two kernels per level, flags instead of a
// queue. Threads of one level that share a neighbour all store the same cost and the same flags.
//
// expect: race
#include <queue>

#include "benchmark_program.h"

constexpr int kThreads = 256;

struct Node {
  int first_edge;
  int edge_count;
};

struct Search {
  const Node* nodes;
  const int* edges;
  bool* frontier;
  bool* next_frontier;
  bool* visited;
  int* cost;
  int count;
};

__global__ void expand(Search search) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node < search.count && search.frontier[node]) {
    search.frontier[node] = false;
    const Node& here = search.nodes[node];
    for (int e = here.first_edge; e < here.first_edge + here.edge_count; ++e) {
      const int neighbour = search.edges[e];
      if (!search.visited[neighbour]) {
        search.cost[neighbour] = search.cost[node] + 1;  // RACE
        search.next_frontier[neighbour] = true;          // RACE
      }
    }
  }
}

__global__ void advance(Search search, bool* again) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node < search.count && search.next_frontier[node]) {
    search.frontier[node] = true;
    search.visited[node] = true;
    *again = true;  // RACE
    search.next_frontier[node] = false;
  }
}

std::vector<int> breadth_first(const std::vector<Node>& nodes, const std::vector<int>& edges) {
  std::vector<int> cost(nodes.size(), -1);
  std::queue<int> queue({0});
  cost[0] = 0;
  while (!queue.empty()) {
    const int node = queue.front();
    queue.pop();
    for (int e = 0; e < nodes[node].edge_count; ++e) {
      const int neighbour = edges[nodes[node].first_edge + e];
      if (cost[neighbour] < 0) {
        cost[neighbour] = cost[node] + 1;
        queue.push(neighbour);
      }
    }
  }
  return cost;
}

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 4096);
  Random random(20);
  std::vector<Node> nodes;
  std::vector<int> edges;
  for (int node = 0; node < count; ++node) {
    const int degree = 2 + random.below(6);
    nodes.push_back({static_cast<int>(edges.size()), degree});
    for (int e = 0; e < degree; ++e) {
      edges.push_back(random.below(count));
    }
  }
  std::vector<int> cost(nodes.size(), -1);
  cost[0] = 0;
  const DeviceArray<Node> device_nodes(nodes);
  const DeviceArray<int> device_edges(edges);
  const DeviceArray<int> device_cost(cost);
  const DeviceArray<bool> frontier(nodes.size());
  const DeviceArray<bool> next_frontier(nodes.size());
  const DeviceArray<bool> visited(nodes.size());
  CUDA_CHECK(cudaMemset(frontier.data(), 1, 1));
  CUDA_CHECK(cudaMemset(visited.data(), 1, 1));
  const DeviceArray<bool> again(1);
  const Search search{device_nodes.data(),
                      device_edges.data(),
                      frontier.data(),
                      next_frontier.data(),
                      visited.data(),
                      device_cost.data(),
                      count};
  const int blocks = (count + kThreads - 1) / kThreads;
  bool more = true;
  while (more) {
    more = false;
    CUDA_CHECK(cudaMemcpy(again.data(), &more, sizeof more, cudaMemcpyHostToDevice));
    expand<<<blocks, kThreads>>>(search);
    advance<<<blocks, kThreads>>>(search, again.data());
    CUDA_CHECK(cudaMemcpy(&more, again.data(), sizeof more, cudaMemcpyDeviceToHost));
  }
  expect_equal("cost", device_cost.host(), breadth_first(nodes, edges));
  return result();
}
