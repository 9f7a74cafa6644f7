// Executable graphs: copies of graphs, launched as one piece of work of a stream.
#include <algorithm>
#include <mutex>

#include "base/early_return.h"
#include "emulator/libcuda/graph/graph.h"
#include "emulator/libcuda/graph/graph_nodes.h"
#include "emulator/libcuda/stream/capture.h"
#include "emulator/libcuda/stream/queue.h"
#include "emulator/libcuda/stream/stream.h"

namespace barracuda::emulator::driver {
namespace {

struct Execution {
  std::mutex mutex;  // held while it runs or changes
  std::shared_ptr<Graph> graph;
  cuuint64_t flags = 0;
  Ticket last;  // its last launch
};

HandleTable<Execution, CUgraphExec>& executions() {
  static auto* const instance = new HandleTable<Execution, CUgraphExec>;
  return *instance;
}

CUresult instantiate(CUgraphExec* result, CUgraph handle, cuuint64_t flags) {
  constexpr cuuint64_t kKnown =
      CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
      CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  RETURN_IF_FAILED(require_context());
  const std::shared_ptr<Graph> graph = find_graph(handle);
  RETURN_IF(result == nullptr || graph == nullptr || (flags & ~kKnown) != 0,
            CUDA_ERROR_INVALID_VALUE);
  RETURN_IF((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0, CUDA_ERROR_NOT_SUPPORTED);
  RETURN_IF(!graph->order(), CUDA_ERROR_INVALID_VALUE);
  auto execution = std::make_shared<Execution>();
  execution->graph = graph->clone();
  execution->flags = flags;
  *result = executions().insert(std::move(execution));
  return CUDA_SUCCESS;
}

// Changes the node of an executable graph that was made from this node.
template <typename Change>
CUresult change(CUgraphExec handle, CUgraphNode node_handle, const Change& change_node) {
  const std::shared_ptr<Execution> execution = executions().find(handle);
  const std::shared_ptr<GraphNode> original = find_node(node_handle);
  RETURN_IF(execution == nullptr || original == nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::lock_guard lock(execution->mutex);
  GraphNode* const node = execution->graph->find_copy(*original);
  return node == nullptr ? CUDA_ERROR_INVALID_VALUE : change_node(*node);
}

CUresult change_work(CUgraphExec handle, CUgraphNode node, Work work) {
  return change(handle, node,
                [&](GraphNode& changed) { return replace_work(changed, std::move(work)); });
}

struct Difference {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  CUgraphNode node = nullptr;
};

Difference difference(const Graph& mine, const Graph& other);

Difference difference(const GraphNode& mine, GraphNode& other) {
  if (mine.work.index() != other.work.index()) {
    return {.result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, .node = other.handle()};
  }
  const auto places = [](const GraphNode& node) {
    std::vector<std::size_t> from;
    for (const GraphEdge& edge : node.dependencies) {
      from.push_back(node.graph->index_of(*edge.from));
    }
    std::ranges::sort(from);
    return from;
  };
  if (places(mine) != places(other)) {
    return {.result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, .node = other.handle()};
  }
  if (const auto* const child = std::get_if<ChildGraphWork>(&mine.work)) {
    return difference(*child->graph, *std::get<ChildGraphWork>(other.work).graph);
  }
  return {};
}

// Nodes correspond in the order of their making, which a capture repeats.
Difference difference(const Graph& mine, const Graph& other) {
  if (mine.nodes().size() != other.nodes().size()) {
    return {.result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED};
  }
  for (std::size_t index = 0; index < mine.nodes().size(); ++index) {
    const Difference found = difference(*mine.nodes()[index], *other.nodes()[index]);
    if (found.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
      return found;
    }
  }
  return {};
}

// The nodes stay: handles of the graph that this was made from still find them.
void take_work(Graph& mine, const Graph& other) {
  for (std::size_t index = 0; index < mine.nodes().size(); ++index) {
    Work& work = mine.nodes()[index]->work;
    const Work& update = other.nodes()[index]->work;
    if (const auto* const child = std::get_if<ChildGraphWork>(&work)) {
      take_work(*child->graph, *std::get<ChildGraphWork>(update).graph);
    } else {
      work = update;
    }
  }
}

}  // namespace

CUresult cuGraphInstantiateWithFlags(CUgraphExec* result, CUgraph graph, unsigned long long flags) {
  return instantiate(result, graph, flags);
}

CUresult cuGraphInstantiate_v2(CUgraphExec* result, CUgraph graph, CUgraphNode* error_node,
                               char* text, std::size_t bytes) {
  if (error_node != nullptr) {
    *error_node = nullptr;
  }
  if (text != nullptr && bytes != 0) {
    *text = '\0';
  }
  return instantiate(result, graph, 0);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* result, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  RETURN_IF(parameters == nullptr, CUDA_ERROR_INVALID_VALUE);
  const CUresult status = instantiate(result, graph, parameters->flags);
  parameters->hErrNode_out = nullptr;
  parameters->result_out = status == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                           : status == CUDA_ERROR_NOT_SUPPORTED
                               ? CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED
                               : CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
  return status;
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  return executions().extract(handle) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
  const std::shared_ptr<Execution> execution = executions().find(handle);
  RETURN_IF(execution == nullptr || flags == nullptr, CUDA_ERROR_INVALID_VALUE);
  *flags = execution->flags;
  return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream stream) {
  RETURN_IF(executions().find(handle) == nullptr, CUDA_ERROR_INVALID_VALUE);
  std::shared_ptr<Stream> found;
  return find_for_work(stream, found);
}

// A captured launch is a copy: the program may change this one before the other runs.
CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  RETURN_IF_FAILED(require_context());
  const std::shared_ptr<Execution> execution = executions().find(handle);
  std::shared_ptr<Stream> stream = find_stream(stream_handle);
  RETURN_IF(execution == nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::lock_guard lock(execution->mutex);
  if (stream != nullptr && stream->is_capturing) {
    return submit(stream_handle, ChildGraphWork{execution->graph->clone()});
  }
  const CUresult status = find_for_work(stream_handle, stream);
  return status == CUDA_SUCCESS ? enqueue_graph(stream, *execution->graph, execution->last)
                                : status;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec handle, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v2* parameters) {
  RETURN_IF(parameters == nullptr, CUDA_ERROR_INVALID_VALUE);
  Work work;
  const CUresult status = make_work(*parameters, work);
  return status == CUDA_SUCCESS ? change_work(handle, node, std::move(work)) : status;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  RETURN_IF(parameters == nullptr, CUDA_ERROR_INVALID_VALUE);
  const CUDA_KERNEL_NODE_PARAMS_v2 current = current_form(*parameters);
  return driver::cuGraphExecKernelNodeSetParams_v2(handle, node, &current);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                        const CUDA_MEMCPY3D* copy, CUcontext /*context*/) {
  return copy == nullptr ? CUDA_ERROR_INVALID_VALUE : change_work(handle, node, CopyWork{*copy});
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS_v1* fill,
                                        CUcontext /*context*/) {
  return fill == nullptr ? CUDA_ERROR_INVALID_VALUE : change_work(handle, node, MemsetWork{*fill});
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* host) {
  return host == nullptr
             ? CUDA_ERROR_INVALID_VALUE
             : change_work(handle, node, HostWork{.function = host->fn, .data = host->userData});
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                            CUgraph child_handle) {
  const std::shared_ptr<Graph> child = find_graph(child_handle);
  RETURN_IF(child == nullptr, CUDA_ERROR_INVALID_VALUE);
  return change(handle, node, [&](GraphNode& changed) {
    const auto* const work = std::get_if<ChildGraphWork>(&changed.work);
    RETURN_IF(
        work == nullptr || difference(*work->graph, *child).result != CU_GRAPH_EXEC_UPDATE_SUCCESS,
        CUDA_ERROR_INVALID_VALUE);
    take_work(*work->graph, *child);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec handle, CUgraphNode node, CUevent event) {
  return change_work(handle, node, EventRecordWork{event});
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec handle, CUgraphNode node, CUevent event) {
  return change_work(handle, node, EventWaitWork{event});
}

CUresult cuGraphExecNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                  CUgraphNodeParams* parameters) {
  RETURN_IF(parameters == nullptr, CUDA_ERROR_INVALID_VALUE);
  if (parameters->type == CU_GRAPH_NODE_TYPE_GRAPH) {
    return driver::cuGraphExecChildGraphNodeSetParams(handle, node, parameters->graph.graph);
  }
  Work work;
  const CUresult status = make_work(*parameters, work);
  return status == CUDA_SUCCESS ? change_work(handle, node, std::move(work)) : status;
}

// Only kernels, copies and memsets can be left out.
CUresult cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode node, unsigned is_enabled) {
  return change(handle, node, [&](GraphNode& changed) {
    RETURN_IF(type_of(changed.work) > CU_GRAPH_NODE_TYPE_MEMSET, CUDA_ERROR_INVALID_VALUE);
    changed.is_enabled = is_enabled != 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode node, unsigned* is_enabled) {
  return change(handle, node, [&](const GraphNode& found) {
    RETURN_IF(is_enabled == nullptr, CUDA_ERROR_INVALID_VALUE);
    *is_enabled = found.is_enabled ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph_handle,
                              CUgraphExecUpdateResultInfo* result) {
  const std::shared_ptr<Execution> execution = executions().find(handle);
  const std::shared_ptr<Graph> graph = find_graph(graph_handle);
  RETURN_IF(execution == nullptr || graph == nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::lock_guard lock(execution->mutex);
  const Difference found = difference(*execution->graph, *graph);
  if (result != nullptr) {
    *result = {.result = found.result, .errorNode = found.node, .errorFromNode = nullptr};
  }
  RETURN_IF(found.result != CU_GRAPH_EXEC_UPDATE_SUCCESS, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  take_work(*execution->graph, *graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate(CUgraphExec handle, CUgraph graph, CUgraphNode* error_node,
                           CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult status = driver::cuGraphExecUpdate_v2(handle, graph, &info);
  if (error_node != nullptr) {
    *error_node = info.errorNode;
  }
  if (result != nullptr) {
    *result = info.result;
  }
  return status;
}

}  // namespace barracuda::emulator::driver
