#include "emulator/libcudart/module/function.h"

#include "base/early_return.h"

namespace barracuda::emulator::runtime {
namespace {

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
  RETURN_IF(result == nullptr, note(cudaErrorInvalidValue));
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

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int device) {
  return run([&](const DriverCalls& calls) {
    return calls.cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value, kernel,
                                      device);
  });
}

}  // namespace barracuda::emulator::runtime
