#include <cstring>

#include "emulator/libcudart/driver_calls.h"

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

void fill_textures(cudaDeviceProp& properties, const Attributes& attributes) {
  properties.maxTexture1D = attributes[cudaDevAttrMaxTexture1DWidth];
  properties.maxTexture1DMipmap = attributes[cudaDevAttrMaxTexture1DMipmappedWidth];
  properties.maxTexture2D[0] = attributes[cudaDevAttrMaxTexture2DWidth];
  properties.maxTexture2D[1] = attributes[cudaDevAttrMaxTexture2DHeight];
  properties.maxTexture2DMipmap[0] = attributes[cudaDevAttrMaxTexture2DMipmappedWidth];
  properties.maxTexture2DMipmap[1] = attributes[cudaDevAttrMaxTexture2DMipmappedHeight];
  properties.maxTexture2DLinear[0] = attributes[cudaDevAttrMaxTexture2DLinearWidth];
  properties.maxTexture2DLinear[1] = attributes[cudaDevAttrMaxTexture2DLinearHeight];
  properties.maxTexture2DLinear[2] = attributes[cudaDevAttrMaxTexture2DLinearPitch];
  properties.maxTexture2DGather[0] = attributes[cudaDevAttrMaxTexture2DGatherWidth];
  properties.maxTexture2DGather[1] = attributes[cudaDevAttrMaxTexture2DGatherHeight];
  properties.maxTexture3D[0] = attributes[cudaDevAttrMaxTexture3DWidth];
  properties.maxTexture3D[1] = attributes[cudaDevAttrMaxTexture3DHeight];
  properties.maxTexture3D[2] = attributes[cudaDevAttrMaxTexture3DDepth];
  properties.maxTexture3DAlt[0] = attributes[cudaDevAttrMaxTexture3DWidthAlt];
  properties.maxTexture3DAlt[1] = attributes[cudaDevAttrMaxTexture3DHeightAlt];
  properties.maxTexture3DAlt[2] = attributes[cudaDevAttrMaxTexture3DDepthAlt];
  properties.maxTextureCubemap = attributes[cudaDevAttrMaxTextureCubemapWidth];
  properties.maxTexture1DLayered[0] = attributes[cudaDevAttrMaxTexture1DLayeredWidth];
  properties.maxTexture1DLayered[1] = attributes[cudaDevAttrMaxTexture1DLayeredLayers];
  properties.maxTexture2DLayered[0] = attributes[cudaDevAttrMaxTexture2DLayeredWidth];
  properties.maxTexture2DLayered[1] = attributes[cudaDevAttrMaxTexture2DLayeredHeight];
  properties.maxTexture2DLayered[2] = attributes[cudaDevAttrMaxTexture2DLayeredLayers];
  properties.maxTextureCubemapLayered[0] = attributes[cudaDevAttrMaxTextureCubemapLayeredWidth];
  properties.maxTextureCubemapLayered[1] = attributes[cudaDevAttrMaxTextureCubemapLayeredLayers];
}

void fill_surfaces(cudaDeviceProp& properties, const Attributes& attributes) {
  properties.maxSurface1D = attributes[cudaDevAttrMaxSurface1DWidth];
  properties.maxSurface2D[0] = attributes[cudaDevAttrMaxSurface2DWidth];
  properties.maxSurface2D[1] = attributes[cudaDevAttrMaxSurface2DHeight];
  properties.maxSurface3D[0] = attributes[cudaDevAttrMaxSurface3DWidth];
  properties.maxSurface3D[1] = attributes[cudaDevAttrMaxSurface3DHeight];
  properties.maxSurface3D[2] = attributes[cudaDevAttrMaxSurface3DDepth];
  properties.maxSurface1DLayered[0] = attributes[cudaDevAttrMaxSurface1DLayeredWidth];
  properties.maxSurface1DLayered[1] = attributes[cudaDevAttrMaxSurface1DLayeredLayers];
  properties.maxSurface2DLayered[0] = attributes[cudaDevAttrMaxSurface2DLayeredWidth];
  properties.maxSurface2DLayered[1] = attributes[cudaDevAttrMaxSurface2DLayeredHeight];
  properties.maxSurface2DLayered[2] = attributes[cudaDevAttrMaxSurface2DLayeredLayers];
  properties.maxSurfaceCubemap = attributes[cudaDevAttrMaxSurfaceCubemapWidth];
  properties.maxSurfaceCubemapLayered[0] = attributes[cudaDevAttrMaxSurfaceCubemapLayeredWidth];
  properties.maxSurfaceCubemapLayered[1] = attributes[cudaDevAttrMaxSurfaceCubemapLayeredLayers];
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
  fill_textures(*properties, attributes);
  fill_surfaces(*properties, attributes);
  return cudaSuccess;
}

}  // namespace barracuda::emulator::runtime
