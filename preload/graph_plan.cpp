#include "preload/graph_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "preload/copy_description.h"
#include "preload/hook.h"
#include "preload/shared_limit.h"

namespace barracuda::preload {
namespace {

using session::GraphKernel;

struct Edge {
  std::size_t from, to;
};

// As the driver gives them, with their data where it does.
struct DriverEdges {
  std::vector<CUgraphNode> from, to;
  std::vector<CUgraphEdgeData> data;

  // What it leads to may begin before what it comes from is over.
  [[nodiscard]] bool is_programmatic(std::size_t i) const {
    return data[i].type != CU_GRAPH_DEPENDENCY_TYPE_DEFAULT ||
           data[i].from_port != CU_GRAPH_KERNEL_NODE_PORT_DEFAULT;
  }
};

std::vector<CUgraphNode> nodes_of(CUgraph graph) {
  static const auto get_nodes = DRIVER_FUNCTION(cuGraphGetNodes);
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
bool read_edges(CUgraph graph, DriverEdges& edges) {
  static const auto with_data = DRIVER_FUNCTION(cuGraphGetEdges_v2);
  static const auto plain = DRIVER_FUNCTION(cuGraphGetEdges);
  auto& [from, to, data] = edges;
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
  static const auto get_attribute = DRIVER_FUNCTION(cuGraphKernelNodeGetAttribute);
  CUkernelNodeAttrValue value{};
  if (get_attribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value) != CUDA_SUCCESS ||
      value.clusterDim.x == 0) {
    return std::nullopt;
  }
  return detector::Dim3{.x = value.clusterDim.x, .y = value.clusterDim.y, .z = value.clusterDim.z};
}

bool is_cooperative(CUgraphNode node) {
  static const auto get_attribute = DRIVER_FUNCTION(cuGraphKernelNodeGetAttribute);
  CUkernelNodeAttrValue value{};
  return get_attribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value) == CUDA_SUCCESS &&
         value.cooperative != 0;
}

bool read_kernel(session::Session& session, CUgraphNode node, GraphNode& made,
                 GraphKernel& kernel) {
  static const auto get_parameters = DRIVER_FUNCTION(cuGraphKernelNodeGetParams_v2);
  KernelNodeParameters parameters{};
  if (get_parameters(node, &parameters) != CUDA_SUCCESS) {
    return false;
  }
  kernel.is_kernel = true;
  kernel.request.cluster = cluster_of(node);
  kernel.request.is_cooperative = is_cooperative(node);
  set_kernel(session, parameters, made, kernel);
  return true;
}

// Nothing for a node of another type.
std::optional<session::CopyRequest> read_copy(session::Session& session, CUgraphNode node,
                                              CUgraphNodeType type) {
  static const auto get_copy = DRIVER_FUNCTION(cuGraphMemcpyNodeGetParams);
  static const auto get_memset = DRIVER_FUNCTION(cuGraphMemsetNodeGetParams);
  if (type == CU_GRAPH_NODE_TYPE_MEMCPY) {
    CUDA_MEMCPY3D copy{};
    if (get_copy(node, &copy) == CUDA_SUCCESS) {
      return node_copy(session, copy);
    }
  } else if (type == CU_GRAPH_NODE_TYPE_MEMSET) {
    CUDA_MEMSET_NODE_PARAMS set{};
    if (get_memset(node, &set) == CUDA_SUCCESS) {
      return node_memset(session, set);
    }
  } else {
    return std::nullopt;
  }
  session.problems().add("a copy or memset node of a graph could not be read: it is not checked");
  return std::nullopt;
}

// What a node that waits for an event, or records one, does.
void read_event(session::Session& session, CUgraphNode node, CUgraphNodeType type,
                GraphKernel& kernel) {
  static const auto get_recorded = DRIVER_FUNCTION(cuGraphEventRecordNodeGetEvent);
  static const auto get_awaited = DRIVER_FUNCTION(cuGraphEventWaitNodeGetEvent);
  const bool records = type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  if (!records && type != CU_GRAPH_NODE_TYPE_WAIT_EVENT) {
    return;
  }
  CUevent event = nullptr;
  if ((records ? get_recorded : get_awaited)(node, &event) != CUDA_SUCCESS) {
    session.problems().add("the event of a graph's node could not be read: it orders nothing");
    return;
  }
  (records ? kernel.records : kernel.waits_for) = handle_of(event);
}

CUgraphNodeType type_of(CUgraphNode node) {
  static const auto get_type = DRIVER_FUNCTION(cuGraphNodeGetType);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  return get_type(node, &type) == CUDA_SUCCESS ? type : CU_GRAPH_NODE_TYPE_EMPTY;
}

class PlanBuilder {
 public:
  PlanBuilder(session::Session& session, GraphPlan& plan) : session_(session), plan_(plan) {}

  // All nodes of the graph; those without dependencies get these. The places of what was added, or
  // nothing if the graph could not be read.
  std::optional<std::vector<std::size_t>> add(CUgraph graph,
                                              const std::vector<std::size_t>& entry) {
    const std::vector<CUgraphNode> nodes = nodes_of(graph);
    DriverEdges read;
    if (!read_edges(graph, read)) {
      return std::nullopt;
    }
    std::map<CUgraphNode, std::size_t> index;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      index[nodes[i]] = i;
    }
    std::vector<Edge> edges;
    std::vector<std::vector<std::size_t>> before(nodes.size());
    std::vector<bool> is_programmatic(nodes.size());
    for (std::size_t i = 0; i < read.from.size(); ++i) {
      const Edge& edge =
          edges.emplace_back(Edge{.from = index[read.from[i]], .to = index[read.to[i]]});
      before[edge.to].push_back(edge.from);
      is_programmatic[edge.to] = is_programmatic[edge.to] || read.is_programmatic(i);
    }
    std::vector<std::size_t> place(nodes.size());
    for (const std::size_t node : topological_order(nodes.size(), edges)) {
      std::vector<std::size_t> dependencies = before[node].empty() ? entry : before[node];
      if (!before[node].empty()) {
        std::ranges::transform(dependencies, dependencies.begin(),
                               [&](std::size_t each) { return place[each]; });
      }
      const auto added = add_node(nodes[node], std::move(dependencies));
      if (!added) {
        return std::nullopt;
      }
      place[node] = *added;
      plan_.kernels[*added].request.is_programmatic = is_programmatic[node];
    }
    return place;
  }

 private:
  // A graph as a node stands for the end of all its nodes.
  std::optional<std::size_t> add_node(CUgraphNode node, std::vector<std::size_t> dependencies) {
    static const auto get_graph = DRIVER_FUNCTION(cuGraphChildGraphNodeGetGraph);
    const CUgraphNodeType type = type_of(node);
    const std::size_t first_inside = plan_.nodes.size();
    if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
      CUgraph graph = nullptr;
      const auto inside =
          get_graph(node, &graph) == CUDA_SUCCESS ? add(graph, dependencies) : std::nullopt;
      if (!inside) {
        return std::nullopt;
      }
      dependencies.insert(dependencies.end(), inside->begin(), inside->end());
    } else if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      session_.problems().add("kernels in the body of a conditional graph node are not checked");
    }
    GraphNode& made = plan_.nodes.emplace_back();
    GraphKernel& kernel = plan_.kernels.emplace_back();
    made.node = node;
    made.first_inside = first_inside;
    kernel.dependencies = std::move(dependencies);
    if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
      (void)read_kernel(session_, node, made, kernel);
    }
    kernel.copy = read_copy(session_, node, type);
    read_event(session_, node, type, kernel);
    return plan_.nodes.size() - 1;
  }

  session::Session& session_;
  GraphPlan& plan_;
};

bool has_same_shape(const GraphPlan& plan, std::size_t first, std::size_t end,
                    const GraphPlan& changed) {
  if (changed.nodes.size() != end - first) {
    return false;
  }
  for (std::size_t i = 0; i < changed.nodes.size(); ++i) {
    const GraphKernel& old = plan.kernels[first + i];
    const GraphKernel& other = changed.kernels[i];
    std::vector<std::size_t> inside;  // what it depends on from outside stays
    for (const std::size_t dependency : old.dependencies) {
      if (dependency >= first) {
        inside.push_back(dependency - first);
      }
    }
    if (old.is_kernel != other.is_kernel || inside != other.dependencies) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::shared_ptr<GraphPlan> plan_of(session::Session& session, CUgraph graph) {
  auto plan = std::make_shared<GraphPlan>();
  plan->graph = graph;
  if (!PlanBuilder(session, *plan).add(graph, {})) {
    session.problems().add("a graph's edges could not be read: its kernels are not checked");
    return nullptr;
  }
  ASSERT(plan->is_valid());
  return plan;
}

void set_kernel(session::Session& session, const KernelNodeParameters& parameters, GraphNode& node,
                session::GraphKernel& kernel) {
  const session::Handle function = kernel_handle(parameters);
  kernel.kernel = find_kernel(session, function);
  kernel.is_checked = kernel.kernel != nullptr && kernel.kernel->instrumented();
  session::LaunchRequest& request = kernel.request;
  request.function = function;
  request.grid = {.x = parameters.gridDimX, .y = parameters.gridDimY, .z = parameters.gridDimZ};
  request.block = {.x = parameters.blockDimX, .y = parameters.blockDimY, .z = parameters.blockDimZ};
  request.shared_bytes = parameters.sharedMemBytes;
  node.parameters.reset();
  if (kernel.is_checked) {
    node.parameters.emplace(parameters, *kernel.kernel->kernel);
    kernel.arguments = node.parameters->arguments();
    request.most_shared_bytes = most_dynamic_shared(function);
    request.variables = session.variables().note(function).global;
  }
}

session::CopyRequest node_copy(session::Session& session, const CUDA_MEMCPY3D& copy) {
  return describe_box(session, copy, CallForm::kAsynchronous);
}

session::CopyRequest node_memset(session::Session& session, const CUDA_MEMSET_NODE_PARAMS& set) {
  return describe_memset(session,
                         {.address = set.dst,
                          .pitch = set.height > 1 ? set.pitch : 0,
                          .row_bytes = set.width * set.elementSize,
                          .rows = set.height},
                         CallForm::kAsynchronous);
}

bool adopt(GraphPlan& plan, std::size_t first, std::size_t end, GraphPlan& changed) {
  ASSERT(first <= end && end <= plan.nodes.size() &&
         changed.nodes.size() == changed.kernels.size());
  const bool is_known = has_same_shape(plan, first, end, changed);
  for (std::size_t i = first; i < end; ++i) {
    GraphKernel& kernel = plan.kernels[i];
    if (!is_known) {
      plan.nodes[i].parameters.reset();
      kernel.is_checked = false;
      kernel.copy.reset();
      continue;
    }
    GraphKernel& other = changed.kernels[i - first];
    plan.nodes[i].parameters = std::move(changed.nodes[i - first].parameters);
    other.dependencies = std::move(kernel.dependencies);
    other.is_disabled = kernel.is_disabled;
    kernel = std::move(other);
  }
  DEBUG_ASSERT(plan.is_valid());
  return is_known;
}

std::shared_ptr<const session::KernelBinding> find_kernel(session::Session& session,
                                                          session::Handle function) {
  static const auto get_function = DRIVER_FUNCTION(cuKernelGetFunction);
  session::ModuleRegistry& modules = session.modules();
  if (auto known = modules.find(function)) {
    return known;
  }
  for (const session::Handle kernel : modules.library_kernels()) {
    CUfunction same = nullptr;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the session knows handles as numbers
    if (get_function(&same, reinterpret_cast<CUkernel>(kernel)) == CUDA_SUCCESS) {
      modules.same_kernel(handle_of(same), kernel);
    }
  }
  return modules.find(function);
}

}  // namespace barracuda::preload
