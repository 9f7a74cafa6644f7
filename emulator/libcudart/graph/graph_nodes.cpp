#include "base/early_return.h"
#include "emulator/libcudart/graph/graph_parameters.h"
#include "emulator/libcudart/memory/box_copy.h"
#include "emulator/libcudart/memory/copy.h"
#include "emulator/libcudart/module/registry.h"

namespace barracuda::emulator::runtime {
namespace {

// Describes a copy of bytes, then calls the driver with it.
template <typename Call>
cudaError_t run_row_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                         const Call& call) {
  RETURN_IF(!is_kind(kind), note(cudaErrorInvalidMemcpyDirection));
  const CUDA_MEMCPY3D copy = describe_row(to, from, bytes, kind);
  return run([&](const DriverCalls& calls) { return call(calls, copy); });
}

// Calls `call` with the place in memory of a part of a variable.
template <typename Call>
cudaError_t at_symbol(const void* symbol, std::size_t offset, std::size_t bytes, const Call& call) {
  void* place = nullptr;
  const cudaError_t error = find_place(symbol, offset, bytes, place);
  return error != cudaSuccess ? note(error) : call(place);
}

}  // namespace

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* result) {
  RETURN_IF(result == nullptr, note(cudaErrorInvalidValue));
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

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* result) {
  RETURN_IF(result == nullptr, note(cudaErrorInvalidValue));
  return run([&](const DriverCalls& calls) {
    CUDA_MEMCPY3D copy{};
    const CUresult status = calls.cuGraphMemcpyNodeGetParams(node, &copy);
    return status == CUDA_SUCCESS ? describe(calls, copy, *result) : status;
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* result) {
  RETURN_IF(result == nullptr, note(cudaErrorInvalidValue));
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

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, std::size_t count, void* to,
                                     const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return run_row_copy(
      to, from, bytes, kind, [&](const DriverCalls& calls, const CUDA_MEMCPY3D& copy) {
        return calls.cuGraphAddMemcpyNode(node, graph, after, count, &copy, nullptr);
      });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
  return run_row_copy(to, from, bytes, kind,
                      [&](const DriverCalls& calls, const CUDA_MEMCPY3D& copy) {
                        return calls.cuGraphMemcpyNodeSetParams(node, &copy);
                      });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               void* to, const void* from, std::size_t bytes,
                                               cudaMemcpyKind kind) {
  return run_row_copy(
      to, from, bytes, kind, [&](const DriverCalls& calls, const CUDA_MEMCPY3D& copy) {
        return calls.cuGraphExecMemcpyNodeSetParams(executable, node, &copy, nullptr);
      });
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* after, std::size_t count,
                                           const void* symbol, const void* from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind) {
  return at_symbol(symbol, offset, bytes, [&](void* to) {
    return runtime::cudaGraphAddMemcpyNode1D(node, graph, after, count, to, from, bytes, kind);
  });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* after, std::size_t count,
                                             void* to, const void* symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind kind) {
  return at_symbol(symbol, offset, bytes, [&](void* from) {
    return runtime::cudaGraphAddMemcpyNode1D(node, graph, after, count, to, from, bytes, kind);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                 const void* from, std::size_t bytes,
                                                 std::size_t offset, cudaMemcpyKind kind) {
  return at_symbol(symbol, offset, bytes, [&](void* to) {
    return runtime::cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                   const void* symbol, std::size_t bytes,
                                                   std::size_t offset, cudaMemcpyKind kind) {
  return at_symbol(symbol, offset, bytes, [&](void* from) {
    return runtime::cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable,
                                                     cudaGraphNode_t node, const void* symbol,
                                                     const void* from, std::size_t bytes,
                                                     std::size_t offset, cudaMemcpyKind kind) {
  return at_symbol(symbol, offset, bytes, [&](void* to) {
    return runtime::cudaGraphExecMemcpyNodeSetParams1D(executable, node, to, from, bytes, kind);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable,
                                                       cudaGraphNode_t node, void* to,
                                                       const void* symbol, std::size_t bytes,
                                                       std::size_t offset, cudaMemcpyKind kind) {
  return at_symbol(symbol, offset, bytes, [&](void* from) {
    return runtime::cudaGraphExecMemcpyNodeSetParams1D(executable, node, to, from, bytes, kind);
  });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* edges, std::size_t count,
                             cudaGraphNodeParams* parameters) {
  RETURN_IF(parameters == nullptr, note(cudaErrorInvalidValue));
  return run([&](const DriverCalls& calls) {
    CUgraphNodeParams described{};
    RETURN_IF_FAILED(describe(calls, *parameters, described));
    const CUresult status = calls.cuGraphAddNode_v2(
        node, graph, after, reinterpret_cast<const CUgraphEdgeData*>(edges), count, &described);
    if (status == CUDA_SUCCESS && parameters->type == cudaGraphNodeTypeMemAlloc) {
      parameters->alloc.dptr = reinterpret_cast<void*>(described.alloc.dptr);
    }
    return static_cast<cudaError_t>(status);
  });
}

}  // namespace barracuda::emulator::runtime
