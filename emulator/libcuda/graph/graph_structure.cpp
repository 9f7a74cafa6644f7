#include <algorithm>

#include "base/early_return.h"
#include "emulator/libcuda/graph/graph.h"

namespace barracuda::emulator::driver {
namespace {

// Fills what the caller has room for and says how many there are; without room only that. Room for
// more than there are is filled with nulls, as CUDA does.
CUresult list(const std::vector<CUgraphNode>& nodes, CUgraphNode* result, std::size_t* count) {
  RETURN_IF(count == nullptr, CUDA_ERROR_INVALID_VALUE);
  if (result == nullptr) {
    *count = nodes.size();
    return CUDA_SUCCESS;
  }
  const std::size_t copied = std::min(*count, nodes.size());
  std::copy_n(nodes.begin(), copied, result);
  std::fill(result + copied, result + *count, nullptr);
  *count = copied;
  return CUDA_SUCCESS;
}

struct Edges {
  std::vector<CUgraphNode> from, to;
  std::vector<CUgraphEdgeData> data;

  void add(const GraphEdge& edge, GraphNode& target) {
    from.push_back(edge.from->handle());
    to.push_back(target.handle());
    data.push_back(edge.data);
  }
};

bool has_data(const Edges& edges) {
  return std::ranges::any_of(edges.data, [](const CUgraphEdgeData& data) {
    return data.from_port != 0 || data.to_port != 0 || data.type != 0;
  });
}

void copy_data(const Edges& edges, CUgraphEdgeData* result, std::size_t room) {
  std::copy_n(edges.data.begin(), std::min(room, edges.data.size()), result);
}

Edges edges_into(GraphNode& node) {
  Edges edges;
  for (const GraphEdge& edge : node.dependencies) {
    edges.add(edge, node);
  }
  return edges;
}

Edges edges_out_of(GraphNode& node) {
  Edges edges;
  for (const std::shared_ptr<GraphNode>& other : node.graph->nodes()) {
    for (const GraphEdge& edge : other->dependencies) {
      if (edge.from == &node) {
        edges.add(edge, *other);
      }
    }
  }
  return edges;
}

// A query that has no room for the edges' data must not hide it.
CUresult list_edges(const Edges& edges, const std::vector<CUgraphNode>& nodes, CUgraphNode* result,
                    CUgraphEdgeData* data, std::size_t* count) {
  RETURN_IF(data == nullptr && result != nullptr && has_data(edges), CUDA_ERROR_LOSSY_QUERY);
  if (data != nullptr && count != nullptr && result != nullptr) {
    copy_data(edges, data, *count);
  }
  return list(nodes, result, count);
}

template <typename Change>
CUresult for_each_pair(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                       std::size_t count, const Change& change) {
  const std::shared_ptr<Graph> graph = find_graph(handle);
  RETURN_IF(graph == nullptr || ((from == nullptr || to == nullptr) && count != 0),
            CUDA_ERROR_INVALID_VALUE);
  for (std::size_t index = 0; index < count; ++index) {
    const std::shared_ptr<GraphNode> first = find_node(from[index]);
    const std::shared_ptr<GraphNode> second = find_node(to[index]);
    RETURN_IF(first == nullptr || second == nullptr || first == second ||
                  first->graph != graph.get() || second->graph != graph.get() ||
                  !change(*first, *second, index),
              CUDA_ERROR_INVALID_VALUE);
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* result, std::size_t* count) {
  const std::shared_ptr<Graph> graph = find_graph(handle);
  RETURN_IF(graph == nullptr, CUDA_ERROR_INVALID_VALUE);
  std::vector<CUgraphNode> nodes;
  for (const std::shared_ptr<GraphNode>& node : graph->nodes()) {
    nodes.push_back(node->handle());
  }
  return list(nodes, result, count);
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* result, std::size_t* count) {
  const std::shared_ptr<Graph> graph = find_graph(handle);
  RETURN_IF(graph == nullptr, CUDA_ERROR_INVALID_VALUE);
  std::vector<CUgraphNode> nodes;
  for (const std::shared_ptr<GraphNode>& node : graph->nodes()) {
    if (node->dependencies.empty()) {
      nodes.push_back(node->handle());
    }
  }
  return list(nodes, result, count);
}

CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* data, std::size_t* count) {
  const std::shared_ptr<Graph> graph = find_graph(handle);
  RETURN_IF(graph == nullptr || count == nullptr || (from == nullptr) != (to == nullptr),
            CUDA_ERROR_INVALID_VALUE);
  Edges edges;
  for (const std::shared_ptr<GraphNode>& node : graph->nodes()) {
    for (const GraphEdge& edge : node->dependencies) {
      edges.add(edge, *node);
    }
  }
  std::size_t also = *count;
  RETURN_IF_FAILED(list_edges(edges, edges.from, from, data, count));
  return list(edges.to, to, &also);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode* result,
                                       CUgraphEdgeData* data, std::size_t* count) {
  const std::shared_ptr<GraphNode> node = find_node(handle);
  RETURN_IF(node == nullptr, CUDA_ERROR_INVALID_VALUE);
  const Edges edges = edges_into(*node);
  return list_edges(edges, edges.from, result, data, count);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode* result,
                                         CUgraphEdgeData* data, std::size_t* count) {
  const std::shared_ptr<GraphNode> node = find_node(handle);
  RETURN_IF(node == nullptr, CUDA_ERROR_INVALID_VALUE);
  const Edges edges = edges_out_of(*node);
  return list_edges(edges, edges.to, result, data, count);
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, std::size_t count) {
  return for_each_pair(
      graph, from, to, count, [&](GraphNode& first, GraphNode& second, std::size_t index) {
        if (second.depends_on(first)) {
          return false;
        }
        second.dependencies.push_back(
            {.from = &first, .data = data == nullptr ? CUgraphEdgeData{} : data[index]});
        return true;
      });
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* /*data*/, std::size_t count) {
  return for_each_pair(
      graph, from, to, count, [](GraphNode& first, GraphNode& second, std::size_t /*index*/) {
        return std::erase_if(second.dependencies,
                             [&](const GraphEdge& edge) { return edge.from == &first; }) != 0;
      });
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* result) {
  const std::shared_ptr<GraphNode> node = find_node(handle);
  RETURN_IF(node == nullptr || result == nullptr, CUDA_ERROR_INVALID_VALUE);
  *result = type_of(node->work);
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode* result, CUgraphNode original, CUgraph clone) {
  const std::shared_ptr<GraphNode> node = find_node(original);
  const std::shared_ptr<Graph> graph = find_graph(clone);
  RETURN_IF(result == nullptr || node == nullptr || graph == nullptr, CUDA_ERROR_INVALID_VALUE);
  GraphNode* const copy = graph->find_copy(*node);
  RETURN_IF(copy == nullptr, CUDA_ERROR_INVALID_VALUE);
  *result = copy->handle();
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver
