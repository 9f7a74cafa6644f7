#include "emulator/runtime/copy.h"

namespace barracuda::emulator::runtime {
namespace {

struct Sides {
  CUmemorytype to, from;
};

Sides sides_of(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return {.to = CU_MEMORYTYPE_HOST, .from = CU_MEMORYTYPE_HOST};
    case cudaMemcpyHostToDevice:
      return {.to = CU_MEMORYTYPE_DEVICE, .from = CU_MEMORYTYPE_HOST};
    case cudaMemcpyDeviceToHost:
      return {.to = CU_MEMORYTYPE_HOST, .from = CU_MEMORYTYPE_DEVICE};
    case cudaMemcpyDeviceToDevice:
      return {.to = CU_MEMORYTYPE_DEVICE, .from = CU_MEMORYTYPE_DEVICE};
    case cudaMemcpyDefault:
      break;
  }
  return {.to = CU_MEMORYTYPE_UNIFIED, .from = CU_MEMORYTYPE_UNIFIED};
}

struct Rows {
  void* to;
  std::size_t to_pitch;
  const void* from;
  std::size_t from_pitch;
};

CUDA_MEMCPY2D describe(const Rows& rows, std::size_t width, std::size_t height,
                       cudaMemcpyKind kind) {
  CUDA_MEMCPY2D copy{};
  copy.dstMemoryType = sides_of(kind).to;
  copy.dstHost = rows.to;
  copy.dstDevice = device_pointer(rows.to);
  copy.dstPitch = rows.to_pitch;
  copy.srcMemoryType = sides_of(kind).from;
  copy.srcHost = rows.from;
  copy.srcDevice = device_pointer(rows.from);
  copy.srcPitch = rows.from_pitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  return copy;
}

cudaError_t check(const Rows& rows, std::size_t width, cudaMemcpyKind kind) {
  if (!is_kind(kind)) {
    return cudaErrorInvalidMemcpyDirection;
  }
  return width > rows.to_pitch || width > rows.from_pitch ? cudaErrorInvalidPitchValue
                                                          : cudaSuccess;
}

// Without arrays, positions and extents are in bytes.
CUDA_MEMCPY3D describe(const cudaMemcpy3DParms& from) {
  CUDA_MEMCPY3D copy{};
  copy.dstMemoryType = sides_of(from.kind).to;
  copy.dstHost = from.dstPtr.ptr;
  copy.dstDevice = device_pointer(from.dstPtr.ptr);
  copy.dstPitch = from.dstPtr.pitch;
  copy.dstHeight = from.dstPtr.ysize;
  copy.dstXInBytes = from.dstPos.x;
  copy.dstY = from.dstPos.y;
  copy.dstZ = from.dstPos.z;
  copy.srcMemoryType = sides_of(from.kind).from;
  copy.srcHost = from.srcPtr.ptr;
  copy.srcDevice = device_pointer(from.srcPtr.ptr);
  copy.srcPitch = from.srcPtr.pitch;
  copy.srcHeight = from.srcPtr.ysize;
  copy.srcXInBytes = from.srcPos.x;
  copy.srcY = from.srcPos.y;
  copy.srcZ = from.srcPos.z;
  copy.WidthInBytes = from.extent.width;
  copy.Height = from.extent.height;
  copy.Depth = from.extent.depth;
  return copy;
}

cudaError_t check(const cudaMemcpy3DParms* copy) {
  if (copy == nullptr) {
    return cudaErrorInvalidValue;
  }
  if (copy->srcArray != nullptr || copy->dstArray != nullptr) {
    return cudaErrorNotSupported;
  }
  return is_kind(copy->kind) ? cudaSuccess : cudaErrorInvalidMemcpyDirection;
}

}  // namespace

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  const Rows rows{.to = to, .to_pitch = to_pitch, .from = from, .from_pitch = from_pitch};
  if (const cudaError_t error = check(rows, width, kind); error != cudaSuccess) {
    return note(error);
  }
  const CUDA_MEMCPY2D copy = describe(rows, width, height, kind);
  return run([&](const DriverCalls& calls) {
    return (is_per_thread() ? calls.cuMemcpy2DUnaligned_v2_ptds
                            : calls.cuMemcpy2DUnaligned_v2)(&copy);
  });
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  const Rows rows{.to = to, .to_pitch = to_pitch, .from = from, .from_pitch = from_pitch};
  if (const cudaError_t error = check(rows, width, kind); error != cudaSuccess) {
    return note(error);
  }
  const CUDA_MEMCPY2D copy = describe(rows, width, height, kind);
  return run(
      [&](const DriverCalls& calls) { return calls.cuMemcpy2DAsync_v2(&copy, stream_of(stream)); });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  if (const cudaError_t error = check(parameters); error != cudaSuccess) {
    return note(error);
  }
  const CUDA_MEMCPY3D copy = describe(*parameters);
  return run([&](const DriverCalls& calls) {
    return (is_per_thread() ? calls.cuMemcpy3D_v2_ptds : calls.cuMemcpy3D_v2)(&copy);
  });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  if (const cudaError_t error = check(parameters); error != cudaSuccess) {
    return note(error);
  }
  const CUDA_MEMCPY3D copy = describe(*parameters);
  return run(
      [&](const DriverCalls& calls) { return calls.cuMemcpy3DAsync_v2(&copy, stream_of(stream)); });
}

}  // namespace barracuda::emulator::runtime
