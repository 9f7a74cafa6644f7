#include "emulator/libcuda/graph/graph_nodes.h"

#include <cstring>
#include <span>

#include "base/early_return.h"
#include "emulator/libcuda/graph/graph_memory.h"
#include "emulator/libcuda/module/launch.h"
#include "emulator/libcuda/module/module.h"

namespace barracuda::emulator::driver {
namespace {

struct NodePlace {
  CUgraphNode* result = nullptr;
  CUgraph graph = nullptr;
  const CUgraphNode* after = nullptr;
  std::size_t count = 0;
  const CUgraphEdgeData* edges = nullptr;
};

CUresult add(const NodePlace& place, Work work) {
  const std::shared_ptr<Graph> graph = find_graph(place.graph);
  RETURN_IF(
      place.result == nullptr || graph == nullptr || (place.after == nullptr && place.count != 0),
      CUDA_ERROR_INVALID_VALUE);
  RETURN_IF_FAILED(check(work));
  auto edges = edges_from(*graph, std::span(place.after, place.count), place.edges);
  RETURN_IF(!edges, CUDA_ERROR_INVALID_VALUE);
  *place.result = graph->add(std::move(work), std::move(*edges)).handle();
  return CUDA_SUCCESS;
}

template <typename Parameters>
CUresult add_kernel(const NodePlace& place, const Parameters& parameters) {
  Work work;
  const CUresult status = make_work(parameters, work);
  return status == CUDA_SUCCESS ? add(place, std::move(work)) : status;
}

// The work of a node that is of this kind; else null.
template <typename Kind>
Kind* work_of(CUgraphNode handle) {
  const std::shared_ptr<GraphNode> node = find_node(handle);
  return node == nullptr ? nullptr : std::get_if<Kind>(&node->work);
}

template <typename Kind, typename Read>
CUresult read(CUgraphNode handle, const void* result, const Read& read_work) {
  Kind* const work = work_of<Kind>(handle);
  RETURN_IF(work == nullptr || result == nullptr, CUDA_ERROR_INVALID_VALUE);
  read_work(*work);
  return CUDA_SUCCESS;
}

CUresult replace(CUgraphNode handle, Work work) {
  const std::shared_ptr<GraphNode> node = find_node(handle);
  return node == nullptr ? CUDA_ERROR_INVALID_VALUE : replace_work(*node, std::move(work));
}

CUDA_KERNEL_NODE_PARAMS_v2 describe(GraphNode& node, KernelWork& work) {
  node.parameter_addresses = parameter_addresses(work);
  CUDA_KERNEL_NODE_PARAMS_v2 parameters{};
  parameters.func = work.function;
  parameters.gridDimX = work.config.grid.x;
  parameters.gridDimY = work.config.grid.y;
  parameters.gridDimZ = work.config.grid.z;
  parameters.blockDimX = work.config.block.x;
  parameters.blockDimY = work.config.block.y;
  parameters.blockDimZ = work.config.block.z;
  parameters.sharedMemBytes = work.config.dynamic_shared_bytes;
  parameters.kernelParams = node.parameter_addresses.data();
  return parameters;
}

CUresult make_copy(const CUDA_MEMCPY_NODE_PARAMS& parameters, Work& work) {
  work = CopyWork{parameters.copyParams};
  return CUDA_SUCCESS;
}

CUresult make_memset(const CUDA_MEMSET_NODE_PARAMS_v2& parameters, Work& work) {
  work = MemsetWork{{.dst = parameters.dst,
                     .pitch = parameters.pitch,
                     .value = parameters.value,
                     .elementSize = parameters.elementSize,
                     .width = parameters.width,
                     .height = parameters.height}};
  return CUDA_SUCCESS;
}

CUresult make_child(CUgraph handle, Work& work) {
  const std::shared_ptr<Graph> graph = find_graph(handle);
  RETURN_IF(graph == nullptr, CUDA_ERROR_INVALID_VALUE);
  work = ChildGraphWork{graph->clone()};
  return CUDA_SUCCESS;
}

CUresult make_allocation(const CUDA_MEM_ALLOC_NODE_PARAMS& parameters, Work& work) {
  RETURN_IF(parameters.bytesize == 0 ||
                (parameters.accessDescs == nullptr && parameters.accessDescCount != 0),
            CUDA_ERROR_INVALID_VALUE);
  CUresult status = CUDA_SUCCESS;
  work = AllocateWork{GraphMemory::allocate(parameters, status)};
  return status;
}

}  // namespace

CUDA_KERNEL_NODE_PARAMS_v2 current_form(const CUDA_KERNEL_NODE_PARAMS_v1& parameters) {
  CUDA_KERNEL_NODE_PARAMS_v2 current{};
  std::memcpy(&current, &parameters, sizeof parameters);
  return current;
}

CUresult make_work(const CUDA_KERNEL_NODE_PARAMS_v2& parameters, Work& work) {
  const CUfunction function =
      parameters.func == nullptr ? function_handle(parameters.kern) : parameters.func;
  KernelWork kernel;
  const CUresult status = prepare(
      {.function = function,
       .config = {.grid = {parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ},
                  .block = {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ},
                  .dynamic_shared_bytes = parameters.sharedMemBytes},
       .parameters = parameters.kernelParams,
       .extra = parameters.extra},
      kernel);
  work = std::move(kernel);
  return status;
}

CUresult make_work(const CUgraphNodeParams& parameters, Work& work) {
  switch (parameters.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      CUDA_KERNEL_NODE_PARAMS_v2 kernel{};
      static_assert(sizeof kernel == sizeof parameters.kernel);
      std::memcpy(&kernel, &parameters.kernel, sizeof kernel);
      return make_work(kernel, work);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return make_copy(parameters.memcpy, work);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return make_memset(parameters.memset, work);
    case CU_GRAPH_NODE_TYPE_HOST:
      work = HostWork{.function = parameters.host.fn, .data = parameters.host.userData};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return make_child(parameters.graph.graph, work);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      work = EmptyWork{};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      work = EventWaitWork{parameters.eventWait.event};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      work = EventRecordWork{parameters.eventRecord.event};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
      static_assert(sizeof allocation == sizeof parameters.alloc);
      std::memcpy(&allocation, &parameters.alloc, sizeof allocation);
      return make_allocation(allocation, work);
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      work = FreeWork{parameters.free.dptr};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult replace_work(GraphNode& node, Work work) {
  RETURN_IF(work.index() != node.work.index(), CUDA_ERROR_INVALID_VALUE);
  RETURN_IF_FAILED(check(work));
  if (auto* const kernel = std::get_if<KernelWork>(&work)) {
    for (const auto& [id, value] : std::get<KernelWork>(node.work).attributes) {
      if (!kernel->attributes.contains(id)) {
        RETURN_IF_FAILED(set_attribute(*kernel, id, value));
      }
    }
  }
  node.work = std::move(work);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 std::size_t count, const CUDA_KERNEL_NODE_PARAMS_v2* parameters) {
  return parameters == nullptr
             ? CUDA_ERROR_INVALID_VALUE
             : add_kernel({.result = node, .graph = graph, .after = after, .count = count},
                          *parameters);
}

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              std::size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return parameters == nullptr
             ? CUDA_ERROR_INVALID_VALUE
             : add_kernel({.result = node, .graph = graph, .after = after, .count = count},
                          current_form(*parameters));
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v2* result) {
  const std::shared_ptr<GraphNode> node = find_node(handle);
  return read<KernelWork>(handle, result,
                          [&](KernelWork& work) { *result = describe(*node, work); });
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1* result) {
  CUDA_KERNEL_NODE_PARAMS_v2 current{};
  const CUresult status = driver::cuGraphKernelNodeGetParams_v2(handle, &current);
  if (status == CUDA_SUCCESS && result != nullptr) {
    std::memcpy(result, &current, sizeof *result);
  }
  return status;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node,
                                       const CUDA_KERNEL_NODE_PARAMS_v2* parameters) {
  RETURN_IF(parameters == nullptr, CUDA_ERROR_INVALID_VALUE);
  Work work;
  const CUresult status = make_work(*parameters, work);
  return status == CUDA_SUCCESS ? replace(node, std::move(work)) : status;
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node,
                                    const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  RETURN_IF(parameters == nullptr, CUDA_ERROR_INVALID_VALUE);
  const CUDA_KERNEL_NODE_PARAMS_v2 current = current_form(*parameters);
  return driver::cuGraphKernelNodeSetParams_v2(node, &current);
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                       CUkernelNodeAttrValue* result) {
  return read<KernelWork>(node, result, [&](const KernelWork& work) {
    *result = {};
    if (const auto found = work.attributes.find(id); found != work.attributes.end()) {
      *result = found->second;
    }
    if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && work.config.cluster.volume() > 1) {
      result->clusterDim.x = work.config.cluster.x;
      result->clusterDim.y = work.config.cluster.y;
      result->clusterDim.z = work.config.cluster.z;
    } else if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
      result->cooperative = work.config.cooperative ? 1 : 0;
    }
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                       const CUkernelNodeAttrValue* value) {
  KernelWork* const work = work_of<KernelWork>(node);
  return work == nullptr || value == nullptr ? CUDA_ERROR_INVALID_VALUE
                                             : set_attribute(*work, id, *value);
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  KernelWork* const target = work_of<KernelWork>(to);
  const KernelWork* const source = work_of<KernelWork>(from);
  RETURN_IF(target == nullptr || source == nullptr, CUDA_ERROR_INVALID_VALUE);
  for (const auto& [id, value] : source->attributes) {
    RETURN_IF_FAILED(set_attribute(*target, id, value));
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              std::size_t count, const CUDA_MEMCPY3D* copy, CUcontext /*context*/) {
  return copy == nullptr ? CUDA_ERROR_INVALID_VALUE
                         : add({.result = node, .graph = graph, .after = after, .count = count},
                               CopyWork{*copy});
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* result) {
  return read<CopyWork>(node, result, [&](const CopyWork& work) { *result = work.copy; });
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* copy) {
  return copy == nullptr ? CUDA_ERROR_INVALID_VALUE : replace(node, CopyWork{*copy});
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS_v1* fill,
                              CUcontext /*context*/) {
  return fill == nullptr ? CUDA_ERROR_INVALID_VALUE
                         : add({.result = node, .graph = graph, .after = after, .count = count},
                               MemsetWork{*fill});
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS_v1* result) {
  return read<MemsetWork>(node, result, [&](const MemsetWork& work) { *result = work.fill; });
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS_v1* fill) {
  return fill == nullptr ? CUDA_ERROR_INVALID_VALUE : replace(node, MemsetWork{*fill});
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                            std::size_t count, const CUDA_HOST_NODE_PARAMS* host) {
  return host == nullptr ? CUDA_ERROR_INVALID_VALUE
                         : add({.result = node, .graph = graph, .after = after, .count = count},
                               HostWork{.function = host->fn, .data = host->userData});
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* result) {
  return read<HostWork>(node, result, [&](const HostWork& work) {
    *result = {.fn = work.function, .userData = work.data};
  });
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* host) {
  return host == nullptr ? CUDA_ERROR_INVALID_VALUE
                         : replace(node, HostWork{.function = host->fn, .data = host->userData});
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                  std::size_t count, CUgraph child) {
  Work work;
  const CUresult status = make_child(child, work);
  return status == CUDA_SUCCESS
             ? add({.result = node, .graph = graph, .after = after, .count = count},
                   std::move(work))
             : status;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* result) {
  return read<ChildGraphWork>(node, result,
                              [&](const ChildGraphWork& work) { *result = work.graph->handle(); });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                             std::size_t count) {
  return add({.result = node, .graph = graph, .after = after, .count = count}, EmptyWork{});
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                   std::size_t count, CUevent event) {
  return add({.result = node, .graph = graph, .after = after, .count = count},
             EventRecordWork{event});
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* result) {
  return read<EventRecordWork>(node, result,
                               [&](const EventRecordWork& work) { *result = work.event; });
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return replace(node, EventRecordWork{event});
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 std::size_t count, CUevent event) {
  return add({.result = node, .graph = graph, .after = after, .count = count},
             EventWaitWork{event});
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* result) {
  return read<EventWaitWork>(node, result,
                             [&](const EventWaitWork& work) { *result = work.event; });
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return replace(node, EventWaitWork{event});
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                std::size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  RETURN_IF(parameters == nullptr, CUDA_ERROR_INVALID_VALUE);
  Work work;
  RETURN_IF_FAILED(make_allocation(*parameters, work));
  parameters->dptr = std::get<AllocateWork>(work).memory->address();
  return add({.result = node, .graph = graph, .after = after, .count = count}, std::move(work));
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* result) {
  return read<AllocateWork>(node, result,
                            [&](const AllocateWork& work) { *result = work.memory->parameters(); });
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                               std::size_t count, CUdeviceptr address) {
  return add({.result = node, .graph = graph, .after = after, .count = count}, FreeWork{address});
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* result) {
  return read<FreeWork>(node, result, [&](const FreeWork& work) { *result = work.address; });
}

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                           const CUgraphEdgeData* edges, std::size_t count,
                           CUgraphNodeParams* parameters) {
  RETURN_IF(parameters == nullptr, CUDA_ERROR_INVALID_VALUE);
  Work work;
  RETURN_IF_FAILED(make_work(*parameters, work));
  if (const auto* const allocation = std::get_if<AllocateWork>(&work)) {
    parameters->alloc.dptr = allocation->memory->address();
  }
  return add({.result = node, .graph = graph, .after = after, .count = count, .edges = edges},
             std::move(work));
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* parameters) {
  RETURN_IF(parameters == nullptr, CUDA_ERROR_INVALID_VALUE);
  Work work;
  const CUresult status = make_work(*parameters, work);
  return status == CUDA_SUCCESS ? replace(node, std::move(work)) : status;
}

}  // namespace barracuda::emulator::driver
