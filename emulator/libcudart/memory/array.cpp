#include "base/early_return.h"
#include "emulator/libcudart/memory/box_copy.h"
#include "emulator/libcudart/memory/channel_format.h"

// Arrays are the driver's: the same handles.
namespace barracuda::emulator::runtime {

cudaError_t cudaMalloc3DArray(cudaArray_t* result, const cudaChannelFormatDesc* channels,
                              cudaExtent extent, unsigned flags) {
  RETURN_IF(result == nullptr || channels == nullptr, note(cudaErrorInvalidValue));
  CUDA_ARRAY3D_DESCRIPTOR_v2 descriptor{};
  const std::optional<ChannelFormat> format = format_of(*channels);
  RETURN_IF(!format, note(cudaErrorInvalidChannelDescriptor));
  descriptor.Format = format->format;
  descriptor.NumChannels = format->channels;
  descriptor.Width = extent.width;
  descriptor.Height = extent.height;
  descriptor.Depth = extent.depth;
  descriptor.Flags = flags;
  return run([&](const DriverCalls& calls) {
    return calls.cuArray3DCreate_v2(reinterpret_cast<CUarray*>(result), &descriptor);
  });
}

cudaError_t cudaMallocArray(cudaArray_t* result, const cudaChannelFormatDesc* channels,
                            std::size_t width, std::size_t height, unsigned flags) {
  return runtime::cudaMalloc3DArray(result, channels,
                                    {.width = width, .height = height, .depth = 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return run([&](const DriverCalls& calls) {
    return array == nullptr ? CUDA_SUCCESS : calls.cuArrayDestroy(array_of(array));
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* channels, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  CUDA_ARRAY3D_DESCRIPTOR_v2 descriptor{};
  const cudaError_t error = run([&](const DriverCalls& calls) {
    return calls.cuArray3DGetDescriptor_v2(&descriptor, array_of(array));
  });
  if (error != cudaSuccess) {
    return error;
  }
  if (channels != nullptr) {
    *channels = channels_of({.format = descriptor.Format, .channels = descriptor.NumChannels});
  }
  if (extent != nullptr) {
    *extent = {.width = descriptor.Width, .height = descriptor.Height, .depth = descriptor.Depth};
  }
  if (flags != nullptr) {
    *flags = descriptor.Flags;
  }
  return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* channels, cudaArray_const_t array) {
  RETURN_IF(channels == nullptr, note(cudaErrorInvalidValue));
  return runtime::cudaArrayGetInfo(channels, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

}  // namespace barracuda::emulator::runtime
