#include "emulator/libcudart/memory/copy.h"

#include "base/early_return.h"

namespace barracuda::emulator::runtime {
namespace {

CUresult copy_now(const DriverCalls& calls, const Copy& copy) {
  const bool per_thread = is_per_thread();
  const CUdeviceptr to = device_pointer(copy.to);
  const CUdeviceptr from = device_pointer(copy.from);
  switch (copy.kind) {
    case cudaMemcpyHostToDevice:
      return (per_thread ? calls.cuMemcpyHtoD_v2_ptds : calls.cuMemcpyHtoD_v2)(to, copy.from,
                                                                               copy.bytes);
    case cudaMemcpyDeviceToHost:
      return (per_thread ? calls.cuMemcpyDtoH_v2_ptds : calls.cuMemcpyDtoH_v2)(copy.to, from,
                                                                               copy.bytes);
    case cudaMemcpyDeviceToDevice:
      return (per_thread ? calls.cuMemcpyDtoD_v2_ptds : calls.cuMemcpyDtoD_v2)(to, from,
                                                                               copy.bytes);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      break;
  }
  return (per_thread ? calls.cuMemcpy_ptds : calls.cuMemcpy)(to, from, copy.bytes);
}

CUresult copy_in_stream(const DriverCalls& calls, const Copy& copy, CUstream stream) {
  const CUdeviceptr to = device_pointer(copy.to);
  const CUdeviceptr from = device_pointer(copy.from);
  switch (copy.kind) {
    case cudaMemcpyHostToDevice:
      return calls.cuMemcpyHtoDAsync_v2(to, copy.from, copy.bytes, stream);
    case cudaMemcpyDeviceToHost:
      return calls.cuMemcpyDtoHAsync_v2(copy.to, from, copy.bytes, stream);
    case cudaMemcpyDeviceToDevice:
      return calls.cuMemcpyDtoDAsync_v2(to, from, copy.bytes, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      break;
  }
  return calls.cuMemcpyAsync(to, from, copy.bytes, stream);
}

}  // namespace

bool is_kind(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

CUresult copy_bytes(const DriverCalls& calls, const Copy& copy, std::optional<CUstream> stream) {
  if (copy.bytes == 0) {
    return CUDA_SUCCESS;
  }
  return stream ? copy_in_stream(calls, copy, *stream) : copy_now(calls, copy);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  RETURN_IF(!is_kind(kind), note(cudaErrorInvalidMemcpyDirection));
  return run([&](const DriverCalls& calls) {
    return copy_bytes(calls, {.to = to, .from = from, .bytes = bytes, .kind = kind}, {});
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  RETURN_IF(!is_kind(kind), note(cudaErrorInvalidMemcpyDirection));
  return run([&](const DriverCalls& calls) {
    return copy_bytes(calls, {.to = to, .from = from, .bytes = bytes, .kind = kind},
                      stream_of(stream));
  });
}

// There is one device: its peer is itself.

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t bytes) {
  RETURN_IF(to_device != 0 || from_device != 0, note(cudaErrorInvalidDevice));
  return run([&](const DriverCalls& calls) {
    CUcontext context = nullptr;
    const CUresult status = calls.cuCtxGetCurrent(&context);
    return status != CUDA_SUCCESS || bytes == 0
               ? status
               : calls.cuMemcpyPeer(device_pointer(to), context, device_pointer(from), context,
                                    bytes);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream) {
  RETURN_IF(to_device != 0 || from_device != 0, note(cudaErrorInvalidDevice));
  return runtime::cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

}  // namespace barracuda::emulator::runtime
