#include "preload/graph_plan.h"

#include <utility>

#include "preload/hook.h"

namespace barracuda::preload {
namespace {

using session::GraphKernel;

struct Edge {
  std::size_t from, to;
};

std::vector<CUgraphNode> nodes_of(CUgraph graph) {
  static const Original<decltype(::cuGraphGetNodes)> get_nodes{"cuGraphGetNodes"};
  std::size_t count = 0;
  if (get_nodes(graph, nullptr, &count) != CUDA_SUCCESS) {
    return {};
  }
  std::vector<CUgraphNode> nodes(count);
  if (count != 0 && get_nodes(graph, nodes.data(), &count) != CUDA_SUCCESS) {
    return {};
  }
  return nodes;
}

// The newer call also tells edges that carry data, which the older one refuses.
bool edges_of(CUgraph graph, std::vector<CUgraphNode>& from, std::vector<CUgraphNode>& to) {
  static const Original<decltype(::cuGraphGetEdges_v2)> with_data{"cuGraphGetEdges_v2"};
  static const Original<decltype(::cuGraphGetEdges)> plain{"cuGraphGetEdges"};
  std::vector<CUgraphEdgeData> data;
  const auto read = [&](std::size_t* count) {
    CUgraphNode* const first = from.empty() ? nullptr : from.data();
    CUgraphNode* const second = to.empty() ? nullptr : to.data();
    return with_data.exists()
               ? with_data(graph, first, second, data.empty() ? nullptr : data.data(), count)
               : plain(graph, first, second, count);
  };
  std::size_t count = 0;
  if (read(&count) != CUDA_SUCCESS) {
    return false;
  }
  from.resize(count);
  to.resize(count);
  data.resize(count);
  return count == 0 || read(&count) == CUDA_SUCCESS;
}

// Positions of the nodes such that dependencies come first.
std::vector<std::size_t> topological_order(std::size_t count, const std::vector<Edge>& edges) {
  std::vector<std::size_t> missing(count, 0);
  std::vector<std::vector<std::size_t>> followers(count);
  for (const Edge& edge : edges) {
    ++missing[edge.to];
    followers[edge.from].push_back(edge.to);
  }
  std::vector<std::size_t> order;
  for (std::size_t node = 0; node < count; ++node) {
    if (missing[node] == 0) {
      order.push_back(node);
    }
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (const std::size_t follower : followers[order[next]]) {
      if (--missing[follower] == 0) {
        order.push_back(follower);
      }
    }
  }
  return order;
}

std::optional<detector::Dim3> cluster_of(CUgraphNode node) {
  static const Original<decltype(::cuGraphKernelNodeGetAttribute)> get_attribute{
      "cuGraphKernelNodeGetAttribute"};
  CUkernelNodeAttrValue value{};
  if (get_attribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value) != CUDA_SUCCESS ||
      value.clusterDim.x == 0) {
    return std::nullopt;
  }
  return detector::Dim3{value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
}

bool read_kernel(session::Session& session, CUgraphNode node, GraphNode& made,
                 GraphKernel& kernel) {
  static const Original<decltype(::cuGraphKernelNodeGetParams_v2)> get_parameters{
      "cuGraphKernelNodeGetParams_v2"};
  KernelNodeParameters parameters{};
  if (get_parameters(node, &parameters) != CUDA_SUCCESS) {
    return false;
  }
  kernel.is_kernel = true;
  kernel.kernel = session.modules().find(kernel_handle(parameters));
  kernel.grid = {parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ};
  kernel.block = {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ};
  kernel.cluster = cluster_of(node);
  if (kernel.kernel != nullptr && kernel.kernel->instrumented()) {
    made.parameters.emplace(parameters, *kernel.kernel->kernel);
    kernel.is_checked = true;
  }
  return true;
}

CUgraphNodeType type_of(CUgraphNode node) {
  static const Original<decltype(::cuGraphNodeGetType)> get_type{"cuGraphNodeGetType"};
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  return get_type(node, &type) == CUDA_SUCCESS ? type : CU_GRAPH_NODE_TYPE_EMPTY;
}

// Kernels of a graph inside the graph keep their null descriptor; they are counted.
void add_children(session::Session& session, CUgraphNode node, GraphPlan& plan) {
  static const Original<decltype(::cuGraphChildGraphNodeGetGraph)> get_graph{
      "cuGraphChildGraphNodeGetGraph"};
  CUgraph graph = nullptr;
  if (get_graph(node, &graph) != CUDA_SUCCESS) {
    return;
  }
  for (const CUgraphNode child : nodes_of(graph)) {
    const CUgraphNodeType type = type_of(child);
    if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
      add_children(session, child, plan);
    } else if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
      GraphNode unused;
      GraphKernel kernel;
      if (read_kernel(session, child, unused, kernel)) {
        kernel.is_checked = false;
        plan.nodes.emplace_back();
        plan.kernels.push_back(std::move(kernel));
      }
    }
  }
}

}  // namespace

std::shared_ptr<GraphPlan> plan_of(session::Session& session, CUgraph graph) {
  auto plan = std::make_shared<GraphPlan>();
  plan->graph = graph;
  const std::vector<CUgraphNode> nodes = nodes_of(graph);
  std::vector<CUgraphNode> from;
  std::vector<CUgraphNode> to;
  if (!edges_of(graph, from, to)) {
    session.problems().add("a graph's edges could not be read: its kernels are not checked");
    return nullptr;
  }
  std::map<CUgraphNode, std::size_t> index;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    index[nodes[i]] = i;
  }
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < from.size(); ++i) {
    edges.push_back({.from = index[from[i]], .to = index[to[i]]});
  }
  std::vector<std::size_t> place(nodes.size());
  for (const std::size_t node : topological_order(nodes.size(), edges)) {
    place[node] = plan->nodes.size();
    GraphNode& made = plan->nodes.emplace_back();
    made.node = nodes[node];
    GraphKernel kernel;
    for (const Edge& edge : edges) {
      if (edge.to == node) {
        kernel.dependencies.push_back(place[edge.from]);
      }
    }
    if (type_of(made.node) == CU_GRAPH_NODE_TYPE_KERNEL) {
      (void)read_kernel(session, made.node, made, kernel);
    }
    plan->kernels.push_back(std::move(kernel));
  }
  for (const CUgraphNode node : nodes) {
    if (type_of(node) == CU_GRAPH_NODE_TYPE_GRAPH) {
      add_children(session, node, *plan);
    } else if (type_of(node) == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      session.problems().add("kernels in the body of a conditional graph node are not checked");
    }
  }
  return plan;
}

}  // namespace barracuda::preload
