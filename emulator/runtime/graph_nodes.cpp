#include <cstring>

#include "emulator/runtime/box_copy.h"
#include "emulator/runtime/copy.h"
#include "emulator/runtime/graph_parameters.h"
#include "emulator/runtime/registry.h"

namespace barracuda::emulator::runtime {
namespace {

static_assert(sizeof(cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS));
static_assert(sizeof(cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
static_assert(sizeof(cudaKernelNodeAttrValue) == sizeof(CUkernelNodeAttrValue));

const CUDA_HOST_NODE_PARAMS* host(const cudaHostNodeParams* parameters) {
  return reinterpret_cast<const CUDA_HOST_NODE_PARAMS*>(parameters);
}

struct NodePlace {
  cudaGraphNode_t* node;
  cudaGraph_t graph;
  const cudaGraphNode_t* after;
  std::size_t count;
};

cudaError_t add_row_copy(const NodePlace& place, void* to, const void* from, std::size_t bytes,
                         cudaMemcpyKind kind) {
  if (!is_kind(kind)) {
    return note(cudaErrorInvalidMemcpyDirection);
  }
  const CUDA_MEMCPY3D copy = describe_row(to, from, bytes, kind);
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphAddMemcpyNode(place.node, place.graph, place.after, place.count, &copy,
                                      nullptr);
  });
}

cudaError_t set_row_copy(cudaGraphNode_t node, void* to, const void* from, std::size_t bytes,
                         cudaMemcpyKind kind) {
  if (!is_kind(kind)) {
    return note(cudaErrorInvalidMemcpyDirection);
  }
  const CUDA_MEMCPY3D copy = describe_row(to, from, bytes, kind);
  return run(
      [&](const DriverCalls& calls) { return calls.cuGraphMemcpyNodeSetParams(node, &copy); });
}

}  // namespace

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaKernelNodeParams* parameters) {
  return run_described<CUDA_KERNEL_NODE_PARAMS_v2>(
      parameters, [&](const DriverCalls& calls, const CUDA_KERNEL_NODE_PARAMS_v2& described) {
        return calls.cuGraphAddKernelNode_v2(node, graph, after, count, &described);
      });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* result) {
  if (result == nullptr) {
    return note(cudaErrorInvalidValue);
  }
  return run([&](const DriverCalls& calls) {
    CUDA_KERNEL_NODE_PARAMS_v2 known{};
    const CUresult status = calls.cuGraphKernelNodeGetParams_v2(node, &known);
    if (status == CUDA_SUCCESS) {
      *result = {};
      result->func = registry().stub_of(calls, known.func);
      result->gridDim = dim3(known.gridDimX, known.gridDimY, known.gridDimZ);
      result->blockDim = dim3(known.blockDimX, known.blockDimY, known.blockDimZ);
      result->sharedMemBytes = known.sharedMemBytes;
      result->kernelParams = known.kernelParams;
      result->extra = known.extra;
    }
    return status;
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters) {
  return run_described<CUDA_KERNEL_NODE_PARAMS_v2>(
      parameters, [&](const DriverCalls& calls, const CUDA_KERNEL_NODE_PARAMS_v2& described) {
        return calls.cuGraphKernelNodeSetParams_v2(node, &described);
      });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            cudaKernelNodeAttrValue* value) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphKernelNodeGetAttribute(node, static_cast<CUkernelNodeAttrID>(attribute),
                                               reinterpret_cast<CUkernelNodeAttrValue*>(value));
  });
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            const cudaKernelNodeAttrValue* value) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphKernelNodeSetAttribute(
        node, static_cast<CUkernelNodeAttrID>(attribute),
        reinterpret_cast<const CUkernelNodeAttrValue*>(value));
  });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuGraphKernelNodeCopyAttributes(to, from); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  return run_described<CUDA_MEMCPY3D>(
      parameters, [&](const DriverCalls& calls, const CUDA_MEMCPY3D& copy) {
        return calls.cuGraphAddMemcpyNode(node, graph, after, count, &copy, nullptr);
      });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, std::size_t count, void* to,
                                     const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return add_row_copy({.node = node, .graph = graph, .after = after, .count = count}, to, from,
                      bytes, kind);
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* after, std::size_t count,
                                           const void* symbol, const void* from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind) {
  void* to = nullptr;
  if (const cudaError_t error = find_place(symbol, offset, bytes, to); error != cudaSuccess) {
    return note(error);
  }
  return add_row_copy({.node = node, .graph = graph, .after = after, .count = count}, to, from,
                      bytes, kind);
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* after, std::size_t count,
                                             void* to, const void* symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind kind) {
  void* from = nullptr;
  if (const cudaError_t error = find_place(symbol, offset, bytes, from); error != cudaSuccess) {
    return note(error);
  }
  return add_row_copy({.node = node, .graph = graph, .after = after, .count = count}, to, from,
                      bytes, kind);
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* result) {
  if (result == nullptr) {
    return note(cudaErrorInvalidValue);
  }
  return run([&](const DriverCalls& calls) {
    CUDA_MEMCPY3D copy{};
    const CUresult status = calls.cuGraphMemcpyNodeGetParams(node, &copy);
    return status == CUDA_SUCCESS ? describe(calls, copy, *result) : status;
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* parameters) {
  return run_described<CUDA_MEMCPY3D>(parameters,
                                      [&](const DriverCalls& calls, const CUDA_MEMCPY3D& copy) {
                                        return calls.cuGraphMemcpyNodeSetParams(node, &copy);
                                      });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
  return set_row_copy(node, to, from, bytes, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                 const void* from, std::size_t bytes,
                                                 std::size_t offset, cudaMemcpyKind kind) {
  void* to = nullptr;
  const cudaError_t error = find_place(symbol, offset, bytes, to);
  return error == cudaSuccess ? set_row_copy(node, to, from, bytes, kind) : note(error);
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                   const void* symbol, std::size_t bytes,
                                                   std::size_t offset, cudaMemcpyKind kind) {
  void* from = nullptr;
  const cudaError_t error = find_place(symbol, offset, bytes, from);
  return error == cudaSuccess ? set_row_copy(node, to, from, bytes, kind) : note(error);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemsetParams* parameters) {
  if (parameters == nullptr) {
    return note(cudaErrorInvalidValue);
  }
  const CUDA_MEMSET_NODE_PARAMS_v1 fill = describe(*parameters);
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphAddMemsetNode(node, graph, after, count, &fill, nullptr);
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* result) {
  if (result == nullptr) {
    return note(cudaErrorInvalidValue);
  }
  return run([&](const DriverCalls& calls) {
    CUDA_MEMSET_NODE_PARAMS_v1 fill{};
    const CUresult status = calls.cuGraphMemsetNodeGetParams(node, &fill);
    if (status == CUDA_SUCCESS) {
      *result = {.dst = reinterpret_cast<void*>(fill.dst),
                 .pitch = fill.pitch,
                 .value = fill.value,
                 .elementSize = fill.elementSize,
                 .width = fill.width,
                 .height = fill.height};
    }
    return status;
  });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  if (parameters == nullptr) {
    return note(cudaErrorInvalidValue);
  }
  const CUDA_MEMSET_NODE_PARAMS_v1 fill = describe(*parameters);
  return run(
      [&](const DriverCalls& calls) { return calls.cuGraphMemsetNodeSetParams(node, &fill); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, std::size_t count,
                                 const cudaHostNodeParams* parameters) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphAddHostNode(node, graph, after, count, host(parameters));
  });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* result) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphHostNodeGetParams(node, reinterpret_cast<CUDA_HOST_NODE_PARAMS*>(result));
  });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphHostNodeSetParams(node, host(parameters));
  });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, std::size_t count,
                                       cudaGraph_t child) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphAddChildGraphNode(node, graph, after, count, child);
  });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuGraphChildGraphNodeGetGraph(node, graph); });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, std::size_t count) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphAddEmptyNode(node, graph, after, count);
  });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, std::size_t count,
                                        cudaEvent_t event) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphAddEventRecordNode(node, graph, after, count, event);
  });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuGraphEventRecordNodeGetEvent(node, event); });
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuGraphEventRecordNodeSetEvent(node, event); });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* after, std::size_t count,
                                      cudaEvent_t event) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphAddEventWaitNode(node, graph, after, count, event);
  });
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuGraphEventWaitNodeGetEvent(node, event); });
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuGraphEventWaitNodeSetEvent(node, event); });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, std::size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphAddMemAllocNode(node, graph, after, count,
                                        reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(parameters));
  });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* result) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphMemAllocNodeGetParams(
        node, reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(result));
  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, std::size_t count,
                                    void* address) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphAddMemFreeNode(node, graph, after, count, device_pointer(address));
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* result) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphMemFreeNodeGetParams(node, static_cast<CUdeviceptr*>(result));
  });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* edges, std::size_t count,
                             cudaGraphNodeParams* parameters) {
  return run_described<CUgraphNodeParams>(
      parameters, [&](const DriverCalls& calls, CUgraphNodeParams& described) {
        const CUresult status = calls.cuGraphAddNode_v2(
            node, graph, after, reinterpret_cast<const CUgraphEdgeData*>(edges), count, &described);
        if (status == CUDA_SUCCESS && parameters->type == cudaGraphNodeTypeMemAlloc) {
          parameters->alloc.dptr = reinterpret_cast<void*>(described.alloc.dptr);
        }
        return status;
      });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
  return run_described<CUgraphNodeParams>(
      parameters, [&](const DriverCalls& calls, CUgraphNodeParams& described) {
        return calls.cuGraphNodeSetParams(node, &described);
      });
}

}  // namespace barracuda::emulator::runtime
