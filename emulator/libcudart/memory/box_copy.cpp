#include "emulator/libcudart/memory/box_copy.h"

#include <algorithm>

#include "base/early_return.h"
#include "emulator/libcudart/memory/copy.h"

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

cudaError_t check(const cudaMemcpy3DParms* copy) {
  if (copy == nullptr) {
    return cudaErrorInvalidValue;
  }
  return is_kind(copy->kind) ? cudaSuccess : cudaErrorInvalidMemcpyDirection;
}

// The unit of a position beside an array is its element, else the byte.
CUresult unit_of(const DriverCalls& calls, CUarray array, std::size_t& bytes) {
  bytes = 1;
  return array == nullptr ? CUDA_SUCCESS : element_bytes(calls, array, bytes);
}

cudaMemcpyKind kind_of(const CUDA_MEMCPY3D& copy) {
  const auto is_host = [](CUmemorytype type) { return type == CU_MEMORYTYPE_HOST; };
  if (copy.srcMemoryType == CU_MEMORYTYPE_UNIFIED || copy.dstMemoryType == CU_MEMORYTYPE_UNIFIED) {
    return cudaMemcpyDefault;
  }
  if (is_host(copy.srcMemoryType)) {
    return is_host(copy.dstMemoryType) ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  }
  return is_host(copy.dstMemoryType) ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

cudaPitchedPtr pointer_of(CUmemorytype type, const void* host, CUdeviceptr device,
                          std::size_t pitch, std::size_t height) {
  cudaPitchedPtr pointer{};
  pointer.ptr =
      type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : reinterpret_cast<void*>(device);
  pointer.pitch = pitch;
  pointer.xsize = pitch;
  pointer.ysize = height;
  return pointer;
}

}  // namespace

CUmemorytype target_type(cudaMemcpyKind kind) {
  return sides_of(kind).to;
}

CUmemorytype source_type(cudaMemcpyKind kind) {
  return sides_of(kind).from;
}

CUresult element_bytes(const DriverCalls& calls, CUarray array, std::size_t& bytes) {
  CUDA_ARRAY3D_DESCRIPTOR_v2 descriptor{};
  RETURN_IF_FAILED(calls.cuArray3DGetDescriptor_v2(&descriptor, array));
  const bool is_byte = descriptor.Format == CU_AD_FORMAT_UNSIGNED_INT8 ||
                       descriptor.Format == CU_AD_FORMAT_SIGNED_INT8;
  const bool is_word = descriptor.Format == CU_AD_FORMAT_UNSIGNED_INT32 ||
                       descriptor.Format == CU_AD_FORMAT_SIGNED_INT32 ||
                       descriptor.Format == CU_AD_FORMAT_FLOAT;
  const std::size_t channel_bytes = is_byte ? 1 : (is_word ? 4 : 2);
  bytes = channel_bytes * descriptor.NumChannels;
  return CUDA_SUCCESS;
}

CUresult describe(const DriverCalls& calls, const cudaMemcpy3DParms& from, CUDA_MEMCPY3D& copy) {
  copy = {};
  copy.srcArray = array_of(from.srcArray);
  copy.dstArray = array_of(from.dstArray);
  std::size_t source_unit = 1;
  std::size_t target_unit = 1;
  for (const CUresult status :
       {unit_of(calls, copy.srcArray, source_unit), unit_of(calls, copy.dstArray, target_unit)}) {
    if (status != CUDA_SUCCESS) {
      return status;
    }
  }
  copy.dstMemoryType = copy.dstArray == nullptr ? target_type(from.kind) : CU_MEMORYTYPE_ARRAY;
  copy.dstHost = from.dstPtr.ptr;
  copy.dstDevice = device_pointer(from.dstPtr.ptr);
  copy.dstPitch = from.dstPtr.pitch;
  copy.dstHeight = from.dstPtr.ysize;
  copy.dstXInBytes = from.dstPos.x * target_unit;
  copy.dstY = from.dstPos.y;
  copy.dstZ = from.dstPos.z;
  copy.srcMemoryType = copy.srcArray == nullptr ? source_type(from.kind) : CU_MEMORYTYPE_ARRAY;
  copy.srcHost = from.srcPtr.ptr;
  copy.srcDevice = device_pointer(from.srcPtr.ptr);
  copy.srcPitch = from.srcPtr.pitch;
  copy.srcHeight = from.srcPtr.ysize;
  copy.srcXInBytes = from.srcPos.x * source_unit;
  copy.srcY = from.srcPos.y;
  copy.srcZ = from.srcPos.z;
  copy.WidthInBytes = from.extent.width * std::max(source_unit, target_unit);
  copy.Height = from.extent.height;
  copy.Depth = from.extent.depth;
  return CUDA_SUCCESS;
}

CUresult describe(const DriverCalls& calls, const CUDA_MEMCPY3D& from, cudaMemcpy3DParms& copy) {
  copy = {};
  std::size_t source_unit = 1;
  std::size_t target_unit = 1;
  for (const CUresult status :
       {unit_of(calls, from.srcArray, source_unit), unit_of(calls, from.dstArray, target_unit)}) {
    if (status != CUDA_SUCCESS) {
      return status;
    }
  }
  copy.srcArray = reinterpret_cast<cudaArray_t>(from.srcArray);
  copy.dstArray = reinterpret_cast<cudaArray_t>(from.dstArray);
  copy.srcPos = {.x = from.srcXInBytes / source_unit, .y = from.srcY, .z = from.srcZ};
  copy.dstPos = {.x = from.dstXInBytes / target_unit, .y = from.dstY, .z = from.dstZ};
  copy.srcPtr =
      pointer_of(from.srcMemoryType, from.srcHost, from.srcDevice, from.srcPitch, from.srcHeight);
  copy.dstPtr =
      pointer_of(from.dstMemoryType, from.dstHost, from.dstDevice, from.dstPitch, from.dstHeight);
  copy.extent = {.width = from.WidthInBytes / std::max(source_unit, target_unit),
                 .height = from.Height,
                 .depth = from.Depth};
  copy.kind = kind_of(from);
  return CUDA_SUCCESS;
}

CUDA_MEMCPY3D describe_row(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  CUDA_MEMCPY3D copy{};
  copy.dstMemoryType = target_type(kind);
  copy.dstHost = to;
  copy.dstDevice = device_pointer(to);
  copy.srcMemoryType = source_type(kind);
  copy.srcHost = from;
  copy.srcDevice = device_pointer(from);
  copy.WidthInBytes = bytes;
  copy.Height = 1;
  copy.Depth = 1;
  return copy;
}

CUresult run_box_copy(const DriverCalls& calls, const CUDA_MEMCPY3D& copy) {
  return (is_per_thread() ? calls.cuMemcpy3D_v2_ptds : calls.cuMemcpy3D_v2)(&copy);
}

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
  return run([&](const DriverCalls& calls) {
    CUDA_MEMCPY3D copy{};
    const CUresult status = describe(calls, *parameters, copy);
    return status == CUDA_SUCCESS ? run_box_copy(calls, copy) : status;
  });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  if (const cudaError_t error = check(parameters); error != cudaSuccess) {
    return note(error);
  }
  return run([&](const DriverCalls& calls) {
    CUDA_MEMCPY3D copy{};
    const CUresult status = describe(calls, *parameters, copy);
    return status == CUDA_SUCCESS ? calls.cuMemcpy3DAsync_v2(&copy, stream_of(stream)) : status;
  });
}

// There is one device: its peer is itself.

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  RETURN_IF(parameters == nullptr, note(cudaErrorInvalidValue));
  RETURN_IF(parameters->srcDevice != 0 || parameters->dstDevice != 0, note(cudaErrorInvalidDevice));
  const cudaMemcpy3DParms copy{.srcArray = parameters->srcArray,
                               .srcPos = parameters->srcPos,
                               .srcPtr = parameters->srcPtr,
                               .dstArray = parameters->dstArray,
                               .dstPos = parameters->dstPos,
                               .dstPtr = parameters->dstPtr,
                               .extent = parameters->extent,
                               .kind = cudaMemcpyDeviceToDevice};
  return runtime::cudaMemcpy3DAsync(&copy, stream);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return runtime::cudaMemcpy3DPeerAsync(parameters, nullptr);
}

}  // namespace barracuda::emulator::runtime
