#include "emulator/runtime/box_copy.h"
#include "emulator/runtime/copy.h"
#include "emulator/runtime/graph_parameters.h"

namespace barracuda::emulator::runtime {
namespace {

static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS));
static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo));

cudaError_t set_row_copy(cudaGraphExec_t executable, cudaGraphNode_t node,
                         const CUDA_MEMCPY3D& copy) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphExecMemcpyNodeSetParams(executable, node, &copy, nullptr);
  });
}

}  // namespace

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long flags) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphInstantiateWithFlags(executable, graph, flags);
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags) {
  return runtime::cudaGraphInstantiateWithFlags(executable, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphInstantiateWithParams(
        executable, graph, reinterpret_cast<CUDA_GRAPH_INSTANTIATE_PARAMS*>(parameters));
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return run([&](const DriverCalls& calls) { return calls.cuGraphExecDestroy(executable); });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphExecGetFlags(executable, reinterpret_cast<cuuint64_t*>(flags));
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuGraphUpload(executable, stream_of(stream)); });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuGraphLaunch(executable, stream_of(stream)); });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  return run_described<CUDA_KERNEL_NODE_PARAMS_v2>(
      parameters, [&](const DriverCalls& calls, const CUDA_KERNEL_NODE_PARAMS_v2& described) {
        return calls.cuGraphExecKernelNodeSetParams_v2(executable, node, &described);
      });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  return run_described<CUDA_MEMCPY3D>(
      parameters, [&](const DriverCalls& calls, const CUDA_MEMCPY3D& copy) {
        return calls.cuGraphExecMemcpyNodeSetParams(executable, node, &copy, nullptr);
      });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               void* to, const void* from, std::size_t bytes,
                                               cudaMemcpyKind kind) {
  return is_kind(kind) ? set_row_copy(executable, node, describe_row(to, from, bytes, kind))
                       : note(cudaErrorInvalidMemcpyDirection);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable,
                                                     cudaGraphNode_t node, const void* symbol,
                                                     const void* from, std::size_t bytes,
                                                     std::size_t offset, cudaMemcpyKind kind) {
  void* to = nullptr;
  if (const cudaError_t error = find_place(symbol, offset, bytes, to); error != cudaSuccess) {
    return note(error);
  }
  return runtime::cudaGraphExecMemcpyNodeSetParams1D(executable, node, to, from, bytes, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable,
                                                       cudaGraphNode_t node, void* to,
                                                       const void* symbol, std::size_t bytes,
                                                       std::size_t offset, cudaMemcpyKind kind) {
  void* from = nullptr;
  if (const cudaError_t error = find_place(symbol, offset, bytes, from); error != cudaSuccess) {
    return note(error);
  }
  return runtime::cudaGraphExecMemcpyNodeSetParams1D(executable, node, to, from, bytes, kind);
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  if (parameters == nullptr) {
    return note(cudaErrorInvalidValue);
  }
  const CUDA_MEMSET_NODE_PARAMS_v1 fill = describe(*parameters);
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphExecMemsetNodeSetParams(executable, node, &fill, nullptr);
  });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphExecHostNodeSetParams(
        executable, node, reinterpret_cast<const CUDA_HOST_NODE_PARAMS*>(parameters));
  });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphExecChildGraphNodeSetParams(executable, node, child);
  });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphExecEventRecordNodeSetEvent(executable, node, event);
  });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphExecEventWaitNodeSetEvent(executable, node, event);
  });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                       cudaGraphNodeParams* parameters) {
  return run_described<CUgraphNodeParams>(
      parameters, [&](const DriverCalls& calls, CUgraphNodeParams& described) {
        return calls.cuGraphExecNodeSetParams(executable, node, &described);
      });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned is_enabled) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphNodeSetEnabled(executable, node, is_enabled);
  });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned* is_enabled) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphNodeGetEnabled(executable, node, is_enabled);
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphExecUpdate_v2(executable, graph,
                                      reinterpret_cast<CUgraphExecUpdateResultInfo*>(result));
  });
}

}  // namespace barracuda::emulator::runtime
