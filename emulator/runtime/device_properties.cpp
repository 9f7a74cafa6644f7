#include <cstring>

#include "emulator/runtime/driver_calls.h"

namespace barracuda::emulator::runtime {
namespace {

class Attributes {
 public:
  explicit Attributes(const DriverCalls& calls) : calls_(calls) {}

  [[nodiscard]] int operator[](cudaDeviceAttr attribute) const {
    int value = 0;
    calls_.cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), 0);
    return value;
  }

  [[nodiscard]] std::size_t bytes(cudaDeviceAttr attribute) const {
    return static_cast<std::size_t>((*this)[attribute]);
  }

 private:
  const DriverCalls& calls_;
};

void fill_limits(cudaDeviceProp& properties, const Attributes& attributes) {
  properties.maxThreadsPerBlock = attributes[cudaDevAttrMaxThreadsPerBlock];
  properties.maxThreadsDim[0] = attributes[cudaDevAttrMaxBlockDimX];
  properties.maxThreadsDim[1] = attributes[cudaDevAttrMaxBlockDimY];
  properties.maxThreadsDim[2] = attributes[cudaDevAttrMaxBlockDimZ];
  properties.maxGridSize[0] = attributes[cudaDevAttrMaxGridDimX];
  properties.maxGridSize[1] = attributes[cudaDevAttrMaxGridDimY];
  properties.maxGridSize[2] = attributes[cudaDevAttrMaxGridDimZ];
  properties.warpSize = attributes[cudaDevAttrWarpSize];
  properties.regsPerBlock = attributes[cudaDevAttrMaxRegistersPerBlock];
  properties.regsPerMultiprocessor = attributes[cudaDevAttrMaxRegistersPerMultiprocessor];
  properties.multiProcessorCount = attributes[cudaDevAttrMultiProcessorCount];
  properties.maxThreadsPerMultiProcessor = attributes[cudaDevAttrMaxThreadsPerMultiProcessor];
  properties.maxBlocksPerMultiProcessor = attributes[cudaDevAttrMaxBlocksPerMultiprocessor];
  properties.major = attributes[cudaDevAttrComputeCapabilityMajor];
  properties.minor = attributes[cudaDevAttrComputeCapabilityMinor];
}

void fill_memory(cudaDeviceProp& properties, const Attributes& attributes) {
  properties.sharedMemPerBlock = attributes.bytes(cudaDevAttrMaxSharedMemoryPerBlock);
  properties.sharedMemPerBlockOptin = attributes.bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  properties.sharedMemPerMultiprocessor =
      attributes.bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  properties.reservedSharedMemPerBlock = attributes.bytes(cudaDevAttrReservedSharedMemoryPerBlock);
  properties.totalConstMem = attributes.bytes(cudaDevAttrTotalConstantMemory);
  properties.memPitch = attributes.bytes(cudaDevAttrMaxPitch);
  properties.textureAlignment = attributes.bytes(cudaDevAttrTextureAlignment);
  properties.texturePitchAlignment = attributes.bytes(cudaDevAttrTexturePitchAlignment);
  properties.surfaceAlignment = attributes.bytes(cudaDevAttrSurfaceAlignment);
  properties.memoryBusWidth = attributes[cudaDevAttrGlobalMemoryBusWidth];
  properties.l2CacheSize = attributes[cudaDevAttrL2CacheSize];
}

void fill_features(cudaDeviceProp& properties, const Attributes& attributes) {
  properties.integrated = attributes[cudaDevAttrIntegrated];
  properties.canMapHostMemory = attributes[cudaDevAttrCanMapHostMemory];
  properties.concurrentKernels = attributes[cudaDevAttrConcurrentKernels];
  properties.asyncEngineCount = attributes[cudaDevAttrAsyncEngineCount];
  properties.unifiedAddressing = attributes[cudaDevAttrUnifiedAddressing];
  properties.streamPrioritiesSupported = attributes[cudaDevAttrStreamPrioritiesSupported];
  properties.globalL1CacheSupported = attributes[cudaDevAttrGlobalL1CacheSupported];
  properties.localL1CacheSupported = attributes[cudaDevAttrLocalL1CacheSupported];
  properties.managedMemory = attributes[cudaDevAttrManagedMemory];
  properties.pageableMemoryAccess = attributes[cudaDevAttrPageableMemoryAccess];
  properties.concurrentManagedAccess = attributes[cudaDevAttrConcurrentManagedAccess];
  properties.computePreemptionSupported = attributes[cudaDevAttrComputePreemptionSupported];
  properties.canUseHostPointerForRegisteredMem =
      attributes[cudaDevAttrCanUseHostPointerForRegisteredMem];
  properties.cooperativeLaunch = attributes[cudaDevAttrCooperativeLaunch];
  properties.directManagedMemAccessFromHost = attributes[cudaDevAttrDirectManagedMemAccessFromHost];
  properties.hostRegisterSupported = attributes[cudaDevAttrHostRegisterSupported];
  properties.hostRegisterReadOnlySupported = attributes[cudaDevAttrHostRegisterReadOnlySupported];
  properties.memoryPoolsSupported = attributes[cudaDevAttrMemoryPoolsSupported];
  properties.clusterLaunch = attributes[cudaDevAttrClusterLaunch];
  properties.deviceNumaId = attributes[cudaDevAttrNumaId];
  properties.hostNumaId = attributes[cudaDevAttrHostNumaId];
}

}  // namespace

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (properties == nullptr) {
    return note(cudaErrorInvalidValue);
  }
  const DriverCalls& calls = driver_calls();
  *properties = {};
  CUresult status = calls.cuInit(0);
  if (status == CUDA_SUCCESS) {
    status = calls.cuDeviceGetName(properties->name, sizeof properties->name, device);
  }
  if (status == CUDA_SUCCESS) {
    status = calls.cuDeviceTotalMem_v2(&properties->totalGlobalMem, device);
  }
  if (status == CUDA_SUCCESS) {
    status = calls.cuDeviceGetUuid_v2(&properties->uuid, device);
  }
  if (status != CUDA_SUCCESS) {
    return note(status);
  }
  const Attributes attributes(calls);
  fill_limits(*properties, attributes);
  fill_memory(*properties, attributes);
  fill_features(*properties, attributes);
  return cudaSuccess;
}

}  // namespace barracuda::emulator::runtime
