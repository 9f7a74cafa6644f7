#include "base/early_return.h"
#include "emulator/libcudart/memory/box_copy.h"

// Arrays are the driver's: the same handles.
namespace barracuda::emulator::runtime {
namespace {

struct Format {
  CUarray_format format;
  cudaChannelFormatKind kind;
  int bits;
};

constexpr Format kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32},
};

// All channels have the same bits; those that are not there have none.
cudaError_t describe(const cudaChannelFormatDesc& from, CUDA_ARRAY3D_DESCRIPTOR_v2& descriptor) {
  const int bits[] = {from.x, from.y, from.z, from.w};
  unsigned channels = 0;
  while (channels < 4 && bits[channels] != 0) {
    if (bits[channels++] != from.x) {
      return cudaErrorInvalidChannelDescriptor;
    }
  }
  for (const Format& format : kFormats) {
    if (format.kind == from.f && format.bits == from.x && channels != 3) {
      descriptor.Format = format.format;
      descriptor.NumChannels = channels;
      return cudaSuccess;
    }
  }
  return cudaErrorInvalidChannelDescriptor;
}

cudaChannelFormatDesc channels_of(const CUDA_ARRAY3D_DESCRIPTOR_v2& descriptor) {
  cudaChannelFormatDesc channels{};
  for (const Format& format : kFormats) {
    if (format.format == descriptor.Format) {
      channels.f = format.kind;
      channels.x = format.bits;
      channels.y = descriptor.NumChannels > 1 ? format.bits : 0;
      channels.z = descriptor.NumChannels > 2 ? format.bits : 0;
      channels.w = channels.z;
    }
  }
  return channels;
}

}  // namespace

cudaError_t cudaMalloc3DArray(cudaArray_t* result, const cudaChannelFormatDesc* channels,
                              cudaExtent extent, unsigned flags) {
  RETURN_IF(result == nullptr || channels == nullptr, note(cudaErrorInvalidValue));
  CUDA_ARRAY3D_DESCRIPTOR_v2 descriptor{};
  if (const cudaError_t error = describe(*channels, descriptor); error != cudaSuccess) {
    return note(error);
  }
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
    *channels = channels_of(descriptor);
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
