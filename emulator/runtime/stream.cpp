#include "emulator/runtime/driver_calls.h"

// Streams are the driver's: the same handles, flags and attributes.
namespace barracuda::emulator::runtime {

static_assert(sizeof(cudaStreamAttrValue) == sizeof(CUstreamAttrValue));

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuStreamCreate(stream, CU_STREAM_DEFAULT); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return run([&](const DriverCalls& calls) { return calls.cuStreamCreate(stream, flags); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return run([&](const DriverCalls& calls) {
    return calls.cuStreamCreateWithPriority(stream, flags, priority);
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return run([&](const DriverCalls& calls) { return calls.cuStreamDestroy_v2(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuStreamSynchronize(stream_of(stream)); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return run([&](const DriverCalls& calls) { return calls.cuStreamQuery(stream_of(stream)); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return run([&](const DriverCalls& calls) {
    return calls.cuStreamWaitEvent(stream_of(stream), event, flags);
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return run([&](const DriverCalls& calls) {
    return calls.cuStreamGetPriority(stream_of(stream), priority);
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuStreamGetFlags(stream_of(stream), flags); });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return run([&](const DriverCalls& calls) { return calls.cuStreamGetId(stream_of(stream), id); });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  if (device == nullptr) {
    return note(cudaErrorInvalidValue);
  }
  *device = 0;
  return runtime::cudaStreamQuery(stream);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* capture) {
  return run([&](const DriverCalls& calls) {
    return calls.cuStreamIsCapturing(stream_of(stream),
                                     reinterpret_cast<CUstreamCaptureStatus*>(capture));
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* capture,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges,
                                     std::size_t* dependency_count) {
  static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));
  return run([&](const DriverCalls& calls) {
    return calls.cuStreamGetCaptureInfo_v3(
        stream_of(stream), reinterpret_cast<CUstreamCaptureStatus*>(capture),
        reinterpret_cast<cuuint64_t*>(id), graph, dependencies,
        reinterpret_cast<const CUgraphEdgeData**>(edges), dependency_count);
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return run([&](const DriverCalls& calls) {
    return calls.cuStreamCopyAttributes(stream_of(to), stream_of(from));
  });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue* value) {
  return run([&](const DriverCalls& calls) {
    return calls.cuStreamGetAttribute(stream_of(stream), static_cast<CUstreamAttrID>(attribute),
                                      reinterpret_cast<CUstreamAttrValue*>(value));
  });
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value) {
  return run([&](const DriverCalls& calls) {
    return calls.cuStreamSetAttribute(stream_of(stream), static_cast<CUstreamAttrID>(attribute),
                                      reinterpret_cast<const CUstreamAttrValue*>(value));
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return note(driver_calls().cuThreadExchangeStreamCaptureMode(
      reinterpret_cast<CUstreamCaptureMode*>(mode)));
}

}  // namespace barracuda::emulator::runtime
