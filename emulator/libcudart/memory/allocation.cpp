#include <array>

#include "base/early_return.h"
#include "emulator/libcudart/driver_calls.h"

namespace barracuda::emulator::runtime {
namespace {

constexpr unsigned kPitchElementBytes = 4;

cudaError_t allocate_rows(cudaPitchedPtr& result, std::size_t width, std::size_t rows) {
  CUdeviceptr address = 0;
  std::size_t pitch = 0;
  const cudaError_t error = run([&](const DriverCalls& calls) {
    return calls.cuMemAllocPitch_v2(&address, &pitch, width, rows, kPitchElementBytes);
  });
  if (error == cudaSuccess) {
    result.ptr = reinterpret_cast<void*>(address);
    result.pitch = pitch;
  }
  return error;
}

}  // namespace

cudaError_t cudaMalloc(void** result, std::size_t bytes) {
  RETURN_IF(result == nullptr, note(cudaErrorInvalidValue));
  CUdeviceptr address = 0;
  const cudaError_t error = run([&](const DriverCalls& calls) {
    return bytes == 0 ? CUDA_SUCCESS : calls.cuMemAlloc_v2(&address, bytes);
  });
  if (error == cudaSuccess) {
    *result = reinterpret_cast<void*>(address);
  }
  return error;
}

cudaError_t cudaMallocPitch(void** result, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  RETURN_IF(result == nullptr || pitch == nullptr, note(cudaErrorInvalidValue));
  cudaPitchedPtr rows{};
  const cudaError_t error = allocate_rows(rows, width, height);
  if (error == cudaSuccess) {
    *result = rows.ptr;
    *pitch = rows.pitch;
  }
  return error;
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* result, cudaExtent extent) {
  RETURN_IF(result == nullptr, note(cudaErrorInvalidValue));
  const cudaError_t error = allocate_rows(*result, extent.width, extent.height * extent.depth);
  if (error == cudaSuccess) {
    result->xsize = extent.width;
    result->ysize = extent.height;
  }
  return error;
}

cudaError_t cudaFree(void* address) {
  return run([&](const DriverCalls& calls) {
    return address == nullptr ? CUDA_SUCCESS : calls.cuMemFree_v2(device_pointer(address));
  });
}

cudaError_t cudaFreeHost(void* address) {
  return run([&](const DriverCalls& calls) {
    return address == nullptr ? CUDA_SUCCESS : calls.cuMemFreeHost(address);
  });
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  return run([&](const DriverCalls& calls) {
    return address == nullptr ? CUDA_SUCCESS
                              : calls.cuMemFreeAsync(device_pointer(address), stream_of(stream));
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  RETURN_IF(attributes == nullptr, note(cudaErrorInvalidValue));
  unsigned memory_type = 0;
  char is_managed = 0;
  int device = 0;
  CUdeviceptr device_address = 0;
  void* host_address = nullptr;
  std::array names = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                      CU_POINTER_ATTRIBUTE_HOST_POINTER};
  std::array<void*, names.size()> values = {&memory_type, &is_managed, &device, &device_address,
                                            &host_address};
  const cudaError_t error = run([&](const DriverCalls& calls) {
    return calls.cuPointerGetAttributes(names.size(), names.data(), values.data(),
                                        device_pointer(pointer));
  });
  if (error != cudaSuccess) {
    return error;
  }
  *attributes = {};
  attributes->device = device;
  attributes->devicePointer = reinterpret_cast<void*>(device_address);
  attributes->hostPointer = host_address;
  if (memory_type == 0) {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->hostPointer = const_cast<void*>(pointer);
  } else if (is_managed != 0) {
    attributes->type = cudaMemoryTypeManaged;
  } else {
    attributes->type =
        memory_type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
  }
  return cudaSuccess;
}

}  // namespace barracuda::emulator::runtime
