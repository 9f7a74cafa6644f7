#include "base/early_return.h"
#include "emulator/libcuda/context/context.h"
#include "emulator/libcuda/module/function_attributes.h"

namespace barracuda::emulator::driver {
namespace {

// The context that a null or explicit handle means.
Context* resolve(CUcontext handle) {
  return handle == nullptr ? current_context() : find_context(handle);
}

}  // namespace

CUresult cuCtxGetDevice(CUdevice* device) {
  RETURN_IF(device == nullptr, CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(current_context() == nullptr, CUDA_ERROR_INVALID_CONTEXT);
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  RETURN_IF(device == nullptr, CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(resolve(handle) == nullptr, CUDA_ERROR_INVALID_CONTEXT);
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return store_result(flags, current_context()->flags);
}

CUresult cuCtxSetFlags(unsigned flags) {
  RETURN_IF(!are_context_flags(flags), CUDA_ERROR_INVALID_VALUE);
  current_context()->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  const Context* context = resolve(handle);
  RETURN_IF(context == nullptr, CUDA_ERROR_INVALID_CONTEXT);
  return store_result(id, context->id);
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  RETURN_IF(resolve(handle) == nullptr, CUDA_ERROR_INVALID_CONTEXT);
  return store_result(version, 3020);
}

CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  RETURN_IF(value == nullptr, CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(limit < 0 || limit >= CU_LIMIT_MAX, CUDA_ERROR_UNSUPPORTED_LIMIT);
  *value = current_context()->limits.at(static_cast<std::size_t>(limit));
  return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  RETURN_IF(limit < 0 || limit >= CU_LIMIT_MAX, CUDA_ERROR_UNSUPPORTED_LIMIT);
  current_context()->limits.at(static_cast<std::size_t>(limit)) = value;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return store_result(config, current_context()->cache);
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  RETURN_IF(!is_cache_config(config), CUDA_ERROR_INVALID_VALUE);
  current_context()->cache = config;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return store_result(config, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig /*config*/) {
  return require_context();
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) {
    *least = 0;
  }
  if (greatest != nullptr) {
    *greatest = -5;
  }
  return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache() {
  return require_context();
}

}  // namespace barracuda::emulator::driver
