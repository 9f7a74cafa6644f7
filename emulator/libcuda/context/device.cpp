#include "emulator/libcuda/context/device.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/early_return.h"
#include "emulator/libcuda.h"
#include "emulator/libcuda/context/context.h"

namespace barracuda::emulator::driver {
namespace {

constexpr CUuuid kUuid = {
    {'B', 'A', 'R', 'R', 'A', 'C', 'U', 'D', 'A', ' ', 'c', 'p', 'u', 0, 0, 1}};

CUresult copy_text(std::string_view text, char* to, int length) {
  RETURN_IF(to == nullptr || length <= 0, CUDA_ERROR_INVALID_VALUE);
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
#include "emulator/libcuda/context/device_attributes.def"
#undef ATTRIBUTE
    default:
      return 0;
  }
}

CUresult cuInit(unsigned flags) {
  RETURN_IF(flags != 0, CUDA_ERROR_INVALID_VALUE);
  return initialize();
}

CUresult cuDriverGetVersion(int* version) {
  return store_result(version, kCudaVersion);
}

CUresult cuDeviceGet(CUdevice* device, int /*ordinal*/) {
  return store_result(device, 0);
}

CUresult cuDeviceGetCount(int* count) {
  return store_result(count, 1);
}

CUresult cuDeviceGetName(char* name, int length, CUdevice /*device*/) {
  return copy_text(kDeviceName, name, length);
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice /*device*/) {
  return store_result(uuid, kUuid);
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice /*device*/) {
  return store_result(bytes, machine().memory().total_bytes());
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice /*device*/) {
  RETURN_IF(value == nullptr || attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX,
            CUDA_ERROR_INVALID_VALUE);
  *value = device_attribute(attribute);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice /*device*/) {
  RETURN_IF(properties == nullptr, CUDA_ERROR_INVALID_VALUE);
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

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice /*device*/) {
  return copy_text(kPciBusId, text, length);
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  RETURN_IF(device == nullptr || text == nullptr, CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(std::string_view(kPciBusId).find(text) == std::string_view::npos,
            CUDA_ERROR_INVALID_DEVICE);
  *device = 0;
  return CUDA_SUCCESS;
}

// There is no second device: nothing is a peer.

CUresult cuDeviceCanAccessPeer(int* can_access, CUdevice device, CUdevice peer) {
  RETURN_IF_FAILED(require_device(device));
  RETURN_IF(peer != 0, CUDA_ERROR_INVALID_DEVICE);
  return store_result(can_access, 0);
}

CUresult cuDeviceGetP2PAttribute(int* /*value*/, CUdevice_P2PAttribute /*attribute*/,
                                 CUdevice device, CUdevice /*peer*/) {
  const CUresult status = require_device(device);
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
                                            unsigned /*channels*/, CUdevice /*device*/) {
  return store_result(width, 0);
}

CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType /*type*/,
                                        CUdevice /*device*/) {
  return store_result(supported, 0);
}

}  // namespace barracuda::emulator::driver
