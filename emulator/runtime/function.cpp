#include "emulator/runtime/function.h"

namespace barracuda::emulator::runtime {
namespace {

CUlaunchConfig describe(const cudaLaunchConfig_t& config) {
  CUlaunchConfig driver_config{};
  driver_config.gridDimX = config.gridDim.x;
  driver_config.gridDimY = config.gridDim.y;
  driver_config.gridDimZ = config.gridDim.z;
  driver_config.blockDimX = config.blockDim.x;
  driver_config.blockDimY = config.blockDim.y;
  driver_config.blockDimZ = config.blockDim.z;
  driver_config.sharedMemBytes = static_cast<unsigned>(config.dynamicSmemBytes);
  driver_config.attrs = reinterpret_cast<CUlaunchAttribute*>(config.attrs);
  driver_config.numAttrs = config.numAttrs;
  return driver_config;
}

class FunctionAttributes {
 public:
  FunctionAttributes(const DriverCalls& calls, CUfunction function)
      : calls_(calls), function_(function) {}

  [[nodiscard]] int operator[](CUfunction_attribute attribute) const {
    int value = 0;
    calls_.cuFuncGetAttribute(&value, attribute, function_);
    return value;
  }

  [[nodiscard]] std::size_t bytes(CUfunction_attribute attribute) const {
    return static_cast<std::size_t>((*this)[attribute]);
  }

 private:
  const DriverCalls& calls_;
  CUfunction function_;
};

}  // namespace

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* result, const void* symbol) {
  if (result == nullptr) {
    return note(cudaErrorInvalidValue);
  }
  return run_with_function(symbol, [&](const DriverCalls& calls, CUfunction function) {
    const FunctionAttributes attributes(calls, function);
    *result = {};
    result->sharedSizeBytes = attributes.bytes(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    result->constSizeBytes = attributes.bytes(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
    result->localSizeBytes = attributes.bytes(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    result->maxThreadsPerBlock = attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK];
    result->numRegs = attributes[CU_FUNC_ATTRIBUTE_NUM_REGS];
    result->ptxVersion = attributes[CU_FUNC_ATTRIBUTE_PTX_VERSION];
    result->binaryVersion = attributes[CU_FUNC_ATTRIBUTE_BINARY_VERSION];
    result->cacheModeCA = attributes[CU_FUNC_ATTRIBUTE_CACHE_MODE_CA];
    result->maxDynamicSharedSizeBytes = attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
    result->preferredShmemCarveout = attributes[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT];
    result->clusterDimMustBeSet = attributes[CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET];
    result->requiredClusterWidth = attributes[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
    result->requiredClusterHeight = attributes[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT];
    result->requiredClusterDepth = attributes[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH];
    result->nonPortableClusterSizeAllowed =
        attributes[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED];
    return cudaSuccess;
  });
}

// Function attributes have the driver's numbers.
cudaError_t cudaFuncSetAttribute(const void* symbol, cudaFuncAttribute attribute, int value) {
  return run_with_function(symbol, [&](const DriverCalls& calls, CUfunction function) {
    return calls.cuFuncSetAttribute(function, static_cast<CUfunction_attribute>(attribute), value);
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* symbol, cudaFuncCache config) {
  return run_with_function(symbol, [&](const DriverCalls& calls, CUfunction function) {
    return calls.cuFuncSetCacheConfig(function, static_cast<CUfunc_cache>(config));
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* symbol, cudaSharedMemConfig config) {
  return run_with_function(symbol, [&](const DriverCalls& calls, CUfunction function) {
    return calls.cuFuncSetSharedMemConfig(function, static_cast<CUsharedconfig>(config));
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* symbol) {
  return run_with_function(symbol, [&](const DriverCalls& calls, CUfunction function) {
    return calls.cuFuncGetName(name, function);
  });
}

cudaError_t cudaFuncGetParamInfo(const void* symbol, std::size_t index, std::size_t* offset,
                                 std::size_t* size) {
  return run_with_function(symbol, [&](const DriverCalls& calls, CUfunction function) {
    return calls.cuFuncGetParamInfo(function, index, offset, size);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* symbol,
                                                                   int threads, std::size_t shared,
                                                                   unsigned flags) {
  return run_with_function(symbol, [&](const DriverCalls& calls, CUfunction function) {
    return calls.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                      shared, flags);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* symbol,
                                                          int threads, std::size_t shared) {
  return runtime::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, symbol, threads, shared, cudaOccupancyDefault);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* symbol,
                                                      int blocks, int threads) {
  return run_with_function(symbol, [&](const DriverCalls& calls, CUfunction function) {
    return calls.cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads);
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* cluster, const void* symbol,
                                                 const cudaLaunchConfig_t* config) {
  if (config == nullptr) {
    return note(cudaErrorInvalidValue);
  }
  return run_with_function(symbol, [&](const DriverCalls& calls, CUfunction function) {
    const CUlaunchConfig driver_config = describe(*config);
    return calls.cuOccupancyMaxPotentialClusterSize(cluster, function, &driver_config);
  });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* symbol,
                                           const cudaLaunchConfig_t* config) {
  if (config == nullptr) {
    return note(cudaErrorInvalidValue);
  }
  return run_with_function(symbol, [&](const DriverCalls& calls, CUfunction function) {
    const CUlaunchConfig driver_config = describe(*config);
    return calls.cuOccupancyMaxActiveClusters(clusters, function, &driver_config);
  });
}

}  // namespace barracuda::emulator::runtime
