// Contexts: how they begin, are waited for, and end.
#include "preload/hook.h"

namespace barracuda::preload {
namespace {

// The primary context of a device if it is alive, without making one.
CUcontext primary_context(CUdevice device) {
  static const auto get_state = DRIVER_FUNCTION(cuDevicePrimaryCtxGetState);
  static const auto retain = DRIVER_FUNCTION(cuDevicePrimaryCtxRetain);
  static const auto release = DRIVER_FUNCTION(cuDevicePrimaryCtxRelease_v2);
  unsigned flags = 0;
  int active = 0;
  CUcontext context = nullptr;
  if (get_state(device, &flags, &active) != CUDA_SUCCESS || active == 0 ||
      retain(&context, device) != CUDA_SUCCESS) {
    return nullptr;
  }
  release(device);
  return context;
}

void end_context(const HookScope& scope, CUcontext context) {
  if (context != nullptr) {
    scope.run([&](session::Session& session) { session.before_context_end(handle_of(context)); });
  }
}

void end_primary_context(const HookScope& scope, CUdevice device) {
  if (scope.is_outermost() && existing_session() != nullptr) {
    end_context(scope, primary_context(device));
  }
}

}  // namespace

CUresult init(unsigned flags) {
  static const OriginalOf<&init> original;
  const HookScope scope;
  note_cuda_use();
  const CUresult status = original(flags);
  if (status == CUDA_SUCCESS) {
    drain_at_exit();
  }
  return status;
}

CUresult context_destroy(CUcontext context) {
  static const OriginalOf<&context_destroy> original;
  const HookScope scope;
  end_context(scope, context);
  return original(context);
}

CUresult context_destroy_v2(CUcontext context) {
  static const OriginalOf<&context_destroy_v2> original;
  const HookScope scope;
  end_context(scope, context);
  return original(context);
}

// The last release destroys the context; an earlier one costs a new log area at the next launch.
CUresult primary_context_release(CUdevice device) {
  static const OriginalOf<&primary_context_release> original;
  const HookScope scope;
  end_primary_context(scope, device);
  return original(device);
}

CUresult primary_context_release_v2(CUdevice device) {
  static const OriginalOf<&primary_context_release_v2> original;
  const HookScope scope;
  end_primary_context(scope, device);
  return original(device);
}

CUresult primary_context_reset(CUdevice device) {
  static const OriginalOf<&primary_context_reset> original;
  const HookScope scope;
  end_primary_context(scope, device);
  return original(device);
}

CUresult primary_context_reset_v2(CUdevice device) {
  static const OriginalOf<&primary_context_reset_v2> original;
  const HookScope scope;
  end_primary_context(scope, device);
  return original(device);
}

CUresult context_synchronize() {
  static const OriginalOf<&context_synchronize> original;
  const HookScope scope;
  const CUresult status = original();
  scope.run([&](session::Session& session) {
    session.context_synchronized(session.driver().current_context(), status);
  });
  return status;
}

CUresult context_synchronize_v2(CUcontext context) {
  static const OriginalOf<&context_synchronize_v2> original;
  const HookScope scope;
  const CUresult status = original(context);
  scope.run(
      [&](session::Session& session) { session.context_synchronized(handle_of(context), status); });
  return status;
}

}  // namespace barracuda::preload
