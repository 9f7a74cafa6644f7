#include "base/early_return.h"
#include "emulator/libcuda/context/context.h"

namespace barracuda::emulator::driver {
namespace {

// A reset context is as new: what failed in it is forgotten.
void reset(Context& context) {
  if (context.is_alive.exchange(false)) {
    release_resources(context);
  }
  context.failure = CUDA_SUCCESS;
}

}  // namespace

CUresult cuDevicePrimaryCtxRetain(CUcontext* result, CUdevice /*device*/) {
  RETURN_IF(result == nullptr, CUDA_ERROR_INVALID_VALUE);
  Context& context = primary_context();
  ++context.references;
  context.is_alive = true;
  *result = context.handle();
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice /*device*/) {
  Context& context = primary_context();
  RETURN_IF(context.references == 0, CUDA_ERROR_INVALID_CONTEXT);
  if (--context.references == 0) {
    reset(context);
  }
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice /*device*/) {
  reset(primary_context());
  primary_context().references = 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  RETURN_IF_FAILED(require_device(device));
  RETURN_IF(flags == nullptr || active == nullptr, CUDA_ERROR_INVALID_VALUE);
  *flags = primary_context().flags;
  *active = primary_context().is_alive ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  RETURN_IF_FAILED(require_device(device));
  RETURN_IF(!are_context_flags(flags), CUDA_ERROR_INVALID_VALUE);
  primary_context().flags = flags;
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver
