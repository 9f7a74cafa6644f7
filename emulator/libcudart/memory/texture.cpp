// Texture and surface objects: the driver's, by the same handles.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/early_return.h"
#include "emulator/libcudart/memory/box_copy.h"
#include "emulator/libcudart/memory/channel_format.h"

namespace barracuda::emulator::runtime {
namespace {

cudaError_t describe(const cudaResourceDesc& from, CUDA_RESOURCE_DESC& to) {
  to = {};
  to.resType = static_cast<CUresourcetype>(from.resType);
  to.flags = from.flags;
  if (from.resType == cudaResourceTypeArray) {
    to.res.array.hArray = array_of(from.res.array.array);
    return cudaSuccess;
  }
  if (from.resType == cudaResourceTypeMipmappedArray) {
    return cudaSuccess;
  }
  const bool is_linear = from.resType == cudaResourceTypeLinear;
  const auto format = format_of(is_linear ? from.res.linear.desc : from.res.pitch2D.desc);
  RETURN_IF(!format, cudaErrorInvalidChannelDescriptor);
  if (is_linear) {
    to.res.linear.devPtr = device_pointer(from.res.linear.devPtr);
    to.res.linear.format = format->format;
    to.res.linear.numChannels = format->channels;
    to.res.linear.sizeInBytes = from.res.linear.sizeInBytes;
    return cudaSuccess;
  }
  to.res.pitch2D.devPtr = device_pointer(from.res.pitch2D.devPtr);
  to.res.pitch2D.format = format->format;
  to.res.pitch2D.numChannels = format->channels;
  to.res.pitch2D.width = from.res.pitch2D.width;
  to.res.pitch2D.height = from.res.pitch2D.height;
  to.res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
  return cudaSuccess;
}

void describe(const CUDA_RESOURCE_DESC& from, cudaResourceDesc& to) {
  to = {};
  to.resType = static_cast<cudaResourceType>(from.resType);
  to.flags = from.flags;
  if (from.resType == CU_RESOURCE_TYPE_ARRAY) {
    to.res.array.array = reinterpret_cast<cudaArray_t>(from.res.array.hArray);
  } else if (from.resType == CU_RESOURCE_TYPE_LINEAR) {
    const auto& linear = from.res.linear;
    to.res.linear.devPtr = reinterpret_cast<void*>(linear.devPtr);
    to.res.linear.desc = channels_of({.format = linear.format, .channels = linear.numChannels});
    to.res.linear.sizeInBytes = linear.sizeInBytes;
  } else {
    const auto& pitched = from.res.pitch2D;
    to.res.pitch2D.devPtr = reinterpret_cast<void*>(pitched.devPtr);
    to.res.pitch2D.desc = channels_of({.format = pitched.format, .channels = pitched.numChannels});
    to.res.pitch2D.width = pitched.width;
    to.res.pitch2D.height = pitched.height;
    to.res.pitch2D.pitchInBytes = pitched.pitchInBytes;
  }
}

// Without seamlessCubemap, which the structure of 11.0 does not have; cubes are not emulated.
CUDA_TEXTURE_DESC driver_form(const cudaTextureDesc& from) {
  CUDA_TEXTURE_DESC to{};
  for (int i = 0; i < 3; ++i) {
    to.addressMode[i] = static_cast<CUaddress_mode>(from.addressMode[i]);
  }
  to.filterMode = static_cast<CUfilter_mode>(from.filterMode);
  to.flags = (from.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0U) |
             (from.normalizedCoords != 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0U) |
             (from.sRGB != 0 ? CU_TRSF_SRGB : 0U);
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<CUfilter_mode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  std::ranges::copy(from.borderColor, to.borderColor);
  return to;
}

cudaTextureDesc runtime_form(const CUDA_TEXTURE_DESC& from) {
  cudaTextureDesc to{};
  for (int i = 0; i < 3; ++i) {
    to.addressMode[i] = static_cast<cudaTextureAddressMode>(from.addressMode[i]);
  }
  to.filterMode = static_cast<cudaTextureFilterMode>(from.filterMode);
  to.readMode = (from.flags & CU_TRSF_READ_AS_INTEGER) != 0 ? cudaReadModeElementType
                                                            : cudaReadModeNormalizedFloat;
  to.normalizedCoords = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<cudaTextureFilterMode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  std::ranges::copy(from.borderColor, to.borderColor);
  return to;
}

// What the runtime's own checks say, where the driver's error is another.
cudaError_t check(const DriverCalls& calls, const CUDA_RESOURCE_DESC& resource,
                  const cudaTextureDesc& texture) {
  CUarray_format format = resource.res.linear.format;
  if (resource.resType == CU_RESOURCE_TYPE_ARRAY) {
    CUDA_ARRAY3D_DESCRIPTOR_v2 descriptor{};
    const CUresult status = calls.cuArray3DGetDescriptor_v2(&descriptor, resource.res.array.hArray);
    if (status != CUDA_SUCCESS) {
      return static_cast<cudaError_t>(status);
    }
    format = descriptor.Format;
  }
  const bool is_float = format == CU_AD_FORMAT_FLOAT || format == CU_AD_FORMAT_HALF;
  const bool is_wide = format == CU_AD_FORMAT_UNSIGNED_INT32 || format == CU_AD_FORMAT_SIGNED_INT32;
  const bool makes_fractions = texture.readMode == cudaReadModeNormalizedFloat;
  RETURN_IF(makes_fractions && is_wide, cudaErrorInvalidNormSetting);
  RETURN_IF(texture.filterMode == cudaFilterModeLinear &&
                resource.resType != CU_RESOURCE_TYPE_LINEAR && !is_float && !makes_fractions,
            cudaErrorInvalidFilterSetting);
  return cudaSuccess;
}

using GetResource = CUresult (*DriverCalls::*)(CUDA_RESOURCE_DESC*, unsigned long long);

cudaError_t tell_resource(cudaResourceDesc* to, unsigned long long handle, GetResource get) {
  RETURN_IF(to == nullptr, note(cudaErrorInvalidValue));
  return run([&](const DriverCalls& calls) {
    CUDA_RESOURCE_DESC resource{};
    const CUresult status = (calls.*get)(&resource, handle);
    if (status == CUDA_SUCCESS) {
      describe(resource, *to);
    }
    return status;
  });
}

}  // namespace

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* result, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* view) {
  RETURN_IF(result == nullptr || resource == nullptr || texture == nullptr,
            note(cudaErrorInvalidValue));
  RETURN_IF(view != nullptr && view->format != cudaResViewFormatNone, note(cudaErrorNotSupported));
  CUDA_RESOURCE_DESC described{};
  if (const cudaError_t error = describe(*resource, described); error != cudaSuccess) {
    return note(error);
  }
  const CUDA_TEXTURE_DESC sampling = driver_form(*texture);
  return run([&](const DriverCalls& calls) {
    RETURN_IF(described.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, CUDA_ERROR_NOT_SUPPORTED);
    const cudaError_t wrong = check(calls, described, *texture);
    return wrong != cudaSuccess ? static_cast<CUresult>(wrong)
                                : calls.cuTexObjectCreate(result, &described, &sampling, nullptr);
  });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* to, cudaTextureObject_t handle) {
  return tell_resource(to, handle, &DriverCalls::cuTexObjectGetResourceDesc);
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* to, cudaTextureObject_t handle) {
  RETURN_IF(to == nullptr, note(cudaErrorInvalidValue));
  return run([&](const DriverCalls& calls) {
    CUDA_TEXTURE_DESC texture{};
    const CUresult status = calls.cuTexObjectGetTextureDesc(&texture, handle);
    if (status == CUDA_SUCCESS) {
      const cudaTextureDesc told = runtime_form(texture);
      std::memcpy(to, &told, offsetof(cudaTextureDesc, seamlessCubemap));
    }
    return status;
  });
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* /*to*/,
                                                 cudaTextureObject_t handle) {
  return run([&](const DriverCalls& calls) {
    CUDA_RESOURCE_VIEW_DESC view{};
    return calls.cuTexObjectGetResourceViewDesc(&view, handle);
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* result, const cudaResourceDesc* resource) {
  RETURN_IF(result == nullptr || resource == nullptr, note(cudaErrorInvalidValue));
  CUDA_RESOURCE_DESC described{};
  if (const cudaError_t error = describe(*resource, described); error != cudaSuccess) {
    return note(error);
  }
  return run(
      [&](const DriverCalls& calls) { return calls.cuSurfObjectCreate(result, &described); });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* to, cudaSurfaceObject_t handle) {
  return tell_resource(to, handle, &DriverCalls::cuSurfObjectGetResourceDesc);
}

}  // namespace barracuda::emulator::runtime
