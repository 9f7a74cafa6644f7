// Graphs: nodes of work and what each depends on. A graph owns its nodes; a node's handle is valid
// as long as its graph. As in CUDA, calls that change one graph must not race.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "emulator/libcuda/context/context.h"
#include "emulator/libcuda/handle_table.h"
#include "emulator/libcuda/stream/work.h"

namespace barracuda::emulator::driver {

struct GraphNode;
struct UserObject;

struct GraphEdge {
  GraphNode* from = nullptr;
  CUgraphEdgeData data{};
};

struct GraphNode {
  Graph* graph = nullptr;
  Work work;
  std::vector<GraphEdge> dependencies;
  bool is_enabled = true;
  std::shared_ptr<GraphNode> origin;       // of a copy: what it was copied from
  std::vector<void*> parameter_addresses;  // what a query of a kernel's parameters points to

  [[nodiscard]] CUgraphNode handle() {
    return HandleTable<GraphNode, CUgraphNode>::handle_of(*this);
  }

  [[nodiscard]] bool depends_on(const GraphNode& other) const;
};

class Graph {
 public:
  static std::shared_ptr<Graph> make();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  [[nodiscard]] CUgraph handle() { return HandleTable<Graph, CUgraph>::handle_of(*this); }

  // Dependencies first come first; the order of making them decides else.
  [[nodiscard]] const std::vector<std::shared_ptr<GraphNode>>& nodes() const { return nodes_; }

  GraphNode& add(Work work, std::vector<GraphEdge> dependencies);
  void remove(GraphNode& node);
  // The nodes such that dependencies come first, else as they were added; none if there is a cycle.
  [[nodiscard]] std::optional<std::vector<GraphNode*>> order() const;
  // A copy of it all, graphs inside too.
  [[nodiscard]] std::shared_ptr<Graph> clone() const;
  // The copy of the node in this graph or in a graph inside; null: none.
  [[nodiscard]] GraphNode* find_copy(const GraphNode& original) const;
  [[nodiscard]] std::size_t index_of(const GraphNode& node) const;

  // References to user objects that this graph holds.
  std::map<std::shared_ptr<UserObject>, unsigned> user_objects;

 private:
  Graph() = default;

  std::vector<std::shared_ptr<GraphNode>> nodes_;
};

// Null: no such graph or node.
std::shared_ptr<Graph> find_graph(CUgraph handle);
std::shared_ptr<GraphNode> find_node(CUgraphNode handle);
// Keeps the graph until cuGraphDestroy.
CUgraph give_to_program(std::shared_ptr<Graph> graph);

// The edges from these nodes; nothing if one is no node of the graph.
std::optional<std::vector<GraphEdge>> edges_from(const Graph& graph,
                                                 std::span<const CUgraphNode> nodes,
                                                 const CUgraphEdgeData* data);

}  // namespace barracuda::emulator::driver
