#include "emulator/driver/device.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "emulator/driver/context.h"
#include "emulator/driver_face.h"

namespace barracuda::emulator::driver {
namespace {

constexpr CUuuid kUuid = {
    {'B', 'A', 'R', 'R', 'A', 'C', 'U', 'D', 'A', ' ', 'c', 'p', 'u', 0, 0, 1}};

CUresult check(CUdevice device) {
  if (const CUresult status = require_initialized(); status != CUDA_SUCCESS) {
    return status;
  }
  return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult copy_text(std::string_view text, char* to, int length) {
  if (to == nullptr || length <= 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::size_t count = std::min(text.size(), static_cast<std::size_t>(length) - 1);
  std::memcpy(to, text.data(), count);
  to[count] = '\0';
  return CUDA_SUCCESS;
}

}  // namespace

int device_attribute(CUdevice_attribute attribute) {
  switch (static_cast<int>(attribute)) {
#define ATTRIBUTE(name, value)     \
  case CU_DEVICE_ATTRIBUTE_##name: \
    return value;
#include "emulator/driver/device_attributes.def"
#undef ATTRIBUTE
    default:
      return 0;
  }
}

CUresult cuInit(unsigned flags) {
  if (flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return initialize();
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *version = kCudaVersion;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (const CUresult status = check(ordinal); status != CUDA_SUCCESS) {
    return status;
  }
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  if (const CUresult status = require_initialized(); status != CUDA_SUCCESS) {
    return status;
  }
  if (count == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *count = 1;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  if (const CUresult status = check(device); status != CUDA_SUCCESS) {
    return status;
  }
  return copy_text(kDeviceName, name, length);
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  if (const CUresult status = check(device); status != CUDA_SUCCESS) {
    return status;
  }
  if (uuid == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *uuid = kUuid;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return driver::cuDeviceGetUuid(uuid, device);
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  if (const CUresult status = check(device); status != CUDA_SUCCESS) {
    return status;
  }
  if (bytes == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *bytes = machine().memory().total_bytes();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (const CUresult status = check(device); status != CUDA_SUCCESS) {
    return status;
  }
  if (value == nullptr || attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *value = device_attribute(attribute);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
  if (const CUresult status = check(device); status != CUDA_SUCCESS) {
    return status;
  }
  if (properties == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  properties->maxThreadsPerBlock = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  properties->maxThreadsDim[0] = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  properties->maxThreadsDim[1] = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
  properties->maxThreadsDim[2] = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  properties->maxGridSize[0] = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  properties->maxGridSize[1] = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  properties->maxGridSize[2] = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  properties->sharedMemPerBlock = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  properties->totalConstantMemory = device_attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
  properties->SIMDWidth = device_attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  properties->memPitch = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
  properties->regsPerBlock = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  properties->clockRate = device_attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  properties->textureAlign = device_attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  if (const CUresult status =
          driver::cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
      status != CUDA_SUCCESS) {
    return status;
  }
  return driver::cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  if (const CUresult status = check(device); status != CUDA_SUCCESS) {
    return status;
  }
  return copy_text(kPciBusId, text, length);
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  if (const CUresult status = require_initialized(); status != CUDA_SUCCESS) {
    return status;
  }
  if (device == nullptr || text == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (std::string_view(kPciBusId).find(text) == std::string_view::npos) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *device = 0;
  return CUDA_SUCCESS;
}

// There is no second device: nothing is a peer.

CUresult cuDeviceCanAccessPeer(int* can_access, CUdevice device, CUdevice peer) {
  if (const CUresult status = check(device); status != CUDA_SUCCESS) {
    return status;
  }
  if (peer != 0) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  if (can_access == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *can_access = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int* /*value*/, CUdevice_P2PAttribute /*attribute*/,
                                 CUdevice device, CUdevice /*peer*/) {
  const CUresult status = check(device);
  return status != CUDA_SUCCESS ? status : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuCtxEnablePeerAccess(CUcontext /*peer*/, unsigned /*flags*/) {
  const CUresult status = require_context();
  return status != CUDA_SUCCESS ? status : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult cuCtxDisablePeerAccess(CUcontext /*peer*/) {
  const CUresult status = require_context();
  return status != CUDA_SUCCESS ? status : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget /*target*/,
                                    CUflushGPUDirectRDMAWritesScope /*scope*/) {
  return require_context();
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(std::size_t* width, CUarray_format /*format*/,
                                            unsigned /*channels*/, CUdevice device) {
  if (const CUresult status = check(device); status != CUDA_SUCCESS) {
    return status;
  }
  if (width == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *width = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType /*type*/,
                                        CUdevice device) {
  if (const CUresult status = check(device); status != CUDA_SUCCESS) {
    return status;
  }
  if (supported == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *supported = 0;
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver
