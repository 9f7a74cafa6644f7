#include "emulator/libcuda/module/function_attributes.h"

#include "base/early_return.h"
#include "emulator/libcuda/context/device.h"
#include "emulator/libcuda/module/module.h"

namespace barracuda::emulator::driver {
namespace {

constexpr int kBinaryVersion = 90;

CUresult check(CUfunction handle) {
  RETURN_IF_FAILED(require_context());
  return find_function_handle(handle) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

template <typename Use>
CUresult with_function(CUfunction handle, const Use& use) {
  const std::shared_ptr<Function> function = find_function_handle(handle);
  return function == nullptr ? CUDA_ERROR_INVALID_HANDLE : use(*function);
}

CUresult set_dynamic_shared(Function& function, int bytes) {
  const int limit = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) -
                    static_cast<int>(function.attributes.static_shared_bytes);
  RETURN_IF(bytes < 0 || bytes > limit, CUDA_ERROR_INVALID_VALUE);
  function.max_dynamic_shared = bytes;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult function_attribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  const std::shared_ptr<Function> function = find_function_handle(handle);
  RETURN_IF(function == nullptr, CUDA_ERROR_INVALID_HANDLE);
  RETURN_IF(value == nullptr || attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX,
            CUDA_ERROR_INVALID_VALUE);
  const KernelAttributes& known = function->attributes;
  const ptx::Extent required_cluster =
      function->bounds.required_cluster.value_or(ptx::Extent{.x = 0, .y = 0, .z = 0});
  const auto answer = [&]() -> std::uint32_t {
    switch (attribute) {
      case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        return known.max_threads;
      case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        return known.static_shared_bytes;
      case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        return known.const_bytes;
      case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        return known.local_bytes;
      case CU_FUNC_ATTRIBUTE_NUM_REGS:
        return known.registers;
      case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        return known.ptx_arch;
      case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        return kBinaryVersion;
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return static_cast<std::uint32_t>(function->max_dynamic_shared.load());
      case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return static_cast<std::uint32_t>(function->carveout.load());
      case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        return function->bounds.required_cluster ? 1 : 0;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
        return required_cluster.x;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
        return required_cluster.y;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        return required_cluster.z;
      case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        return function->non_portable_cluster ? 1 : 0;
      case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      case CU_FUNC_ATTRIBUTE_MAX:
        return 0;
    }
    return 0;
  };
  *value = static_cast<int>(answer());
  return CUDA_SUCCESS;
}

CUresult set_function_attribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return with_function(handle, [&](Function& function) {
    switch (static_cast<int>(attribute)) {
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return set_dynamic_shared(function, value);
      case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        function.carveout = value;
        return value >= -1 && value <= 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
      case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        function.non_portable_cluster = value != 0;
        return CUDA_SUCCESS;
      case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult function_name(const char** name, CUfunction handle) {
  return with_function(
      handle, [&](const Function& function) { return store_result(name, function.name.c_str()); });
}

CUresult function_parameter(CUfunction handle, std::size_t index, std::size_t* offset,
                            std::size_t* size) {
  return with_function(handle, [&](const Function& function) {
    const std::vector<ptx::ParameterPlace>& places = function.parameters.places;
    RETURN_IF(offset == nullptr || index >= places.size(), CUDA_ERROR_INVALID_VALUE);
    *offset = places[index].offset;
    if (size != nullptr) {
      *size = places[index].size;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  const CUresult status = check(function);
  return status == CUDA_SUCCESS ? function_attribute(value, attribute, function) : status;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  const CUresult status = check(function);
  return status == CUDA_SUCCESS ? set_function_attribute(function, attribute, value) : status;
}

bool is_cache_config(CUfunc_cache config) {
  return config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL;
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return is_cache_config(config) ? check(function) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig /*config*/) {
  return check(function);
}

CUresult cuFuncGetModule(CUmodule* result, CUfunction handle) {
  return with_function(handle, [&](const Function& function) {
    return store_result(result, function.module->handle());
  });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return function_name(name, function);
}

CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                            std::size_t* size) {
  return function_parameter(function, index, offset, size);
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  RETURN_IF(state == nullptr, CUDA_ERROR_INVALID_VALUE);
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return check(function);
}

CUresult cuFuncLoad(CUfunction function) {
  return check(function);
}

}  // namespace barracuda::emulator::driver
