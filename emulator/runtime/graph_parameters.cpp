#include "emulator/runtime/graph_parameters.h"

#include <cstring>

#include "emulator/runtime/box_copy.h"
#include "emulator/runtime/copy.h"
#include "emulator/runtime/function.h"
#include "emulator/runtime/registry.h"

namespace barracuda::emulator::runtime {
namespace {

// Parts that both sides have with the same members.
template <typename To, typename From>
void copy_part(To& to, const From& from) {
  static_assert(sizeof to == sizeof from);
  std::memcpy(&to, &from, sizeof to);
}

}  // namespace

cudaError_t describe(const DriverCalls& calls, const cudaKernelNodeParams& from,
                     CUDA_KERNEL_NODE_PARAMS_v2& parameters) {
  if (const cudaError_t error = find_function(calls, from.func, parameters.func);
      error != cudaSuccess) {
    return error;
  }
  parameters.gridDimX = from.gridDim.x;
  parameters.gridDimY = from.gridDim.y;
  parameters.gridDimZ = from.gridDim.z;
  parameters.blockDimX = from.blockDim.x;
  parameters.blockDimY = from.blockDim.y;
  parameters.blockDimZ = from.blockDim.z;
  parameters.sharedMemBytes = from.sharedMemBytes;
  parameters.kernelParams = from.kernelParams;
  parameters.extra = from.extra;
  return cudaSuccess;
}

CUDA_MEMSET_NODE_PARAMS_v1 describe(const cudaMemsetParams& from) {
  return {.dst = device_pointer(from.dst),
          .pitch = from.pitch,
          .value = from.value,
          .elementSize = from.elementSize,
          .width = from.width,
          .height = from.height};
}

cudaError_t describe(const DriverCalls& calls, const cudaGraphNodeParams& from,
                     CUgraphNodeParams& parameters) {
  parameters.type = static_cast<CUgraphNodeType>(from.type);
  switch (from.type) {
    case cudaGraphNodeTypeKernel: {
      cudaKernelNodeParams kernel{};
      kernel.func = from.kernel.func;
      kernel.gridDim = from.kernel.gridDim;
      kernel.blockDim = from.kernel.blockDim;
      kernel.sharedMemBytes = from.kernel.sharedMemBytes;
      kernel.kernelParams = from.kernel.kernelParams;
      kernel.extra = from.kernel.extra;
      CUDA_KERNEL_NODE_PARAMS_v2 described{};
      const cudaError_t error = describe(calls, kernel, described);
      copy_part(parameters.kernel, described);
      return error;
    }
    case cudaGraphNodeTypeMemcpy:
      if (!is_kind(from.memcpy.copyParams.kind)) {
        return cudaErrorInvalidMemcpyDirection;
      }
      return static_cast<cudaError_t>(
          describe(calls, from.memcpy.copyParams, parameters.memcpy.copyParams));
    case cudaGraphNodeTypeMemset:
      parameters.memset.dst = device_pointer(from.memset.dst);
      parameters.memset.pitch = from.memset.pitch;
      parameters.memset.value = from.memset.value;
      parameters.memset.elementSize = from.memset.elementSize;
      parameters.memset.width = from.memset.width;
      parameters.memset.height = from.memset.height;
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

cudaError_t find_place(const void* symbol, std::size_t offset, std::size_t bytes, void*& address) {
  const DriverCalls& calls = driver_calls();
  if (const CUresult status = enter(calls); status != CUDA_SUCCESS) {
    return static_cast<cudaError_t>(status);
  }
  CUdeviceptr start = 0;
  std::size_t size = 0;
  if (const cudaError_t error = registry().find_variable(calls, symbol, start, size);
      error != cudaSuccess) {
    return error;
  }
  address = reinterpret_cast<void*>(start + offset);
  return offset <= size && bytes <= size - offset ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace barracuda::emulator::runtime
