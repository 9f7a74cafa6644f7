#include "emulator/libcudart/graph/graph_parameters.h"

#include <cstring>

#include "base/early_return.h"
#include "emulator/libcudart/memory/box_copy.h"
#include "emulator/libcudart/memory/copy.h"
#include "emulator/libcudart/module/function.h"

namespace barracuda::emulator::runtime {
namespace {

// Parts that both sides have with the same members.
template <typename To, typename From>
void copy_part(To& to, const From& from) {
  static_assert(sizeof to == sizeof from);
  std::memcpy(&to, &from, sizeof to);
}

// Every version of a node's parameters has these members.
template <typename From, typename To>
cudaError_t describe_kernel(const DriverCalls& calls, const From& from, To& to) {
  RETURN_IF_FAILED(find_function(calls, from.func, to.func));
  to.gridDimX = from.gridDim.x;
  to.gridDimY = from.gridDim.y;
  to.gridDimZ = from.gridDim.z;
  to.blockDimX = from.blockDim.x;
  to.blockDimY = from.blockDim.y;
  to.blockDimZ = from.blockDim.z;
  to.sharedMemBytes = from.sharedMemBytes;
  to.kernelParams = from.kernelParams;
  to.extra = from.extra;
  return cudaSuccess;
}

template <typename From, typename To>
void describe_memset(const From& from, To& to) {
  to.dst = device_pointer(from.dst);
  to.pitch = from.pitch;
  to.value = from.value;
  to.elementSize = from.elementSize;
  to.width = from.width;
  to.height = from.height;
}

}  // namespace

cudaError_t describe(const DriverCalls& calls, const cudaKernelNodeParams& from,
                     CUDA_KERNEL_NODE_PARAMS_v2& parameters) {
  return describe_kernel(calls, from, parameters);
}

CUresult describe(const DriverCalls& /*calls*/, const cudaMemsetParams& from,
                  CUDA_MEMSET_NODE_PARAMS_v1& parameters) {
  describe_memset(from, parameters);
  return CUDA_SUCCESS;
}

cudaError_t describe(const DriverCalls& calls, const cudaGraphNodeParams& from,
                     CUgraphNodeParams& parameters) {
  parameters.type = static_cast<CUgraphNodeType>(from.type);
  switch (from.type) {
    case cudaGraphNodeTypeKernel:
      return describe_kernel(calls, from.kernel, parameters.kernel);
    case cudaGraphNodeTypeMemcpy:
      if (!is_kind(from.memcpy.copyParams.kind)) {
        return cudaErrorInvalidMemcpyDirection;
      }
      return static_cast<cudaError_t>(
          describe(calls, from.memcpy.copyParams, parameters.memcpy.copyParams));
    case cudaGraphNodeTypeMemset:
      describe_memset(from.memset, parameters.memset);
      return cudaSuccess;
    case cudaGraphNodeTypeHost:
      copy_part(parameters.host, from.host);
      return cudaSuccess;
    case cudaGraphNodeTypeGraph:
      copy_part(parameters.graph, from.graph);
      return cudaSuccess;
    case cudaGraphNodeTypeEmpty:
      return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
      copy_part(parameters.eventWait, from.eventWait);
      return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
      copy_part(parameters.eventRecord, from.eventRecord);
      return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc:
      copy_part(parameters.alloc, from.alloc);
      return cudaSuccess;
    case cudaGraphNodeTypeMemFree:
      copy_part(parameters.free, from.free);
      return cudaSuccess;
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
    case cudaGraphNodeTypeConditional:
    case cudaGraphNodeTypeCount:
      break;
  }
  return cudaErrorNotSupported;
}

}  // namespace barracuda::emulator::runtime
