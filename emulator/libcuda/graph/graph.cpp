#include "emulator/libcuda/graph/graph.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <unordered_map>

#include "base/early_return.h"
#include "emulator/libcuda/graph/user_object.h"

namespace barracuda::emulator::driver {
namespace {

struct Graphs {
  HandleTable<GraphNode, CUgraphNode> nodes;
  HandleTable<Graph, CUgraph> of_program;
  std::mutex mutex;
  std::unordered_map<CUgraph, std::weak_ptr<Graph>> all;
};

Graphs& graphs() {
  static auto* const instance = new Graphs;
  return *instance;
}

Work copy_of(const Work& work) {
  if (const auto* child = std::get_if<ChildGraphWork>(&work)) {
    return ChildGraphWork{child->graph->clone()};
  }
  return work;
}

}  // namespace

bool GraphNode::depends_on(const GraphNode& other) const {
  return std::ranges::any_of(dependencies,
                             [&](const GraphEdge& edge) { return edge.from == &other; });
}

std::shared_ptr<Graph> Graph::make() {
  std::shared_ptr<Graph> graph(new Graph);
  const std::lock_guard lock(graphs().mutex);
  graphs().all[graph->handle()] = graph;
  return graph;
}

Graph::~Graph() {
  for (const std::shared_ptr<GraphNode>& node : nodes_) {
    graphs().nodes.extract(node->handle());
    node->graph = nullptr;
  }
  release_user_objects(*this);
  const std::lock_guard lock(graphs().mutex);
  graphs().all.erase(handle());
}

GraphNode& Graph::add(Work work, std::vector<GraphEdge> dependencies) {
  auto node = std::make_shared<GraphNode>();
  node->graph = this;
  node->work = std::move(work);
  node->dependencies = std::move(dependencies);
  graphs().nodes.insert(node);
  nodes_.push_back(std::move(node));
  return *nodes_.back();
}

void Graph::remove(GraphNode& node) {
  for (const std::shared_ptr<GraphNode>& other : nodes_) {
    std::erase_if(other->dependencies, [&](const GraphEdge& edge) { return edge.from == &node; });
  }
  graphs().nodes.extract(node.handle());
  node.graph = nullptr;
  std::erase_if(nodes_, [&](const auto& candidate) { return candidate.get() == &node; });
}

std::optional<std::vector<GraphNode*>> Graph::order() const {
  std::unordered_map<const GraphNode*, std::size_t> places;
  for (const std::shared_ptr<GraphNode>& node : nodes_) {
    places.emplace(node.get(), places.size());
  }
  std::vector<std::size_t> missing(nodes_.size());
  std::vector<std::vector<std::size_t>> followers(nodes_.size());
  std::set<std::size_t> ready;
  for (std::size_t place = 0; place < nodes_.size(); ++place) {
    missing[place] = nodes_[place]->dependencies.size();
    for (const GraphEdge& edge : nodes_[place]->dependencies) {
      followers[places[edge.from]].push_back(place);
    }
    if (missing[place] == 0) {
      ready.insert(place);
    }
  }
  std::vector<GraphNode*> ordered;
  while (!ready.empty()) {
    const std::size_t place = ready.extract(ready.begin()).value();
    ordered.push_back(nodes_[place].get());
    for (const std::size_t follower : followers[place]) {
      if (--missing[follower] == 0) {
        ready.insert(follower);
      }
    }
  }
  return ordered.size() == nodes_.size() ? std::optional(std::move(ordered)) : std::nullopt;
}

std::shared_ptr<Graph> Graph::clone() const {
  std::shared_ptr<Graph> copy = make();
  std::unordered_map<const GraphNode*, GraphNode*> copies;
  for (const std::shared_ptr<GraphNode>& node : nodes_) {
    GraphNode& made = copy->add(copy_of(node->work), {});
    made.is_enabled = node->is_enabled;
    made.origin = node;
    copies[node.get()] = &made;
  }
  for (const std::shared_ptr<GraphNode>& node : nodes_) {
    for (const GraphEdge& edge : node->dependencies) {
      copies[node.get()]->dependencies.push_back({.from = copies[edge.from], .data = edge.data});
    }
  }
  retain_user_objects(*copy, *this);
  return copy;
}

GraphNode* Graph::find_copy(const GraphNode& original) const {
  for (const std::shared_ptr<GraphNode>& node : nodes_) {
    if (node->origin.get() == &original) {
      return node.get();
    }
    if (const auto* child = std::get_if<ChildGraphWork>(&node->work)) {
      if (GraphNode* const inside = child->graph->find_copy(original)) {
        return inside;
      }
    }
  }
  return nullptr;
}

std::size_t Graph::index_of(const GraphNode& node) const {
  return static_cast<std::size_t>(
      std::ranges::find(nodes_, &node, [](const auto& candidate) { return candidate.get(); }) -
      nodes_.begin());
}

std::shared_ptr<Graph> find_graph(CUgraph handle) {
  const std::lock_guard lock(graphs().mutex);
  const auto found = graphs().all.find(handle);
  return found == graphs().all.end() ? nullptr : found->second.lock();
}

std::shared_ptr<GraphNode> find_node(CUgraphNode handle) {
  return graphs().nodes.find(handle);
}

CUgraph give_to_program(std::shared_ptr<Graph> graph) {
  return graphs().of_program.insert(std::move(graph));
}

std::optional<std::vector<GraphEdge>> edges_from(const Graph& graph,
                                                 std::span<const CUgraphNode> nodes,
                                                 const CUgraphEdgeData* data) {
  std::vector<GraphEdge> edges;
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    const std::shared_ptr<GraphNode> node = find_node(nodes[index]);
    if (node == nullptr || node->graph != &graph) {
      return std::nullopt;
    }
    edges.push_back(
        {.from = node.get(), .data = data == nullptr ? CUgraphEdgeData{} : data[index]});
  }
  return edges;
}

CUresult cuGraphCreate(CUgraph* result, unsigned flags) {
  RETURN_IF(result == nullptr || flags != 0, CUDA_ERROR_INVALID_VALUE);
  *result = give_to_program(Graph::make());
  return CUDA_SUCCESS;
}

// A graph inside a node is the node's.
CUresult cuGraphDestroy(CUgraph handle) {
  return graphs().of_program.extract(handle) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph* result, CUgraph original) {
  const std::shared_ptr<Graph> graph = find_graph(original);
  RETURN_IF(result == nullptr || graph == nullptr, CUDA_ERROR_INVALID_VALUE);
  *result = give_to_program(graph->clone());
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
  const std::shared_ptr<GraphNode> node = find_node(handle);
  RETURN_IF(node == nullptr, CUDA_ERROR_INVALID_VALUE);
  node->graph->remove(*node);
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver
