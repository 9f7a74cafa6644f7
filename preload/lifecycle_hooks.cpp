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

void end_context(session::Session& session, CUcontext context) {
  if (context != nullptr) {
    session.contexts().before_end(handle_of(context));
  }
}

// What ends the primary context of a device, or may.
template <auto Hook>
CUresult end_primary_context(CUdevice device) {
  static const OriginalOf<Hook> original;
  const HookScope scope;
  if (existing_session() != nullptr) {
    scope.run([&](session::Session& session) { end_context(session, primary_context(device)); });
  }
  return original(device);
}

}  // namespace

CUresult cuInit(unsigned flags) {
  static const OriginalOf<&cuInit> original;
  const HookScope scope;
  note_cuda_use();
  const CUresult status = original(flags);
  if (status == CUDA_SUCCESS) {
    drain_at_exit();
  }
  return status;
}

CUresult cuCtxDestroy(CUcontext context) {
  return note_and_call<&cuCtxDestroy>(
      [&](session::Session& session) { end_context(session, context); }, context);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  return note_and_call<&cuCtxDestroy_v2>(
      [&](session::Session& session) { end_context(session, context); }, context);
}

// The last release destroys the context; an earlier one costs a new log area at the next launch.
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return end_primary_context<&cuDevicePrimaryCtxRelease>(device);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return end_primary_context<&cuDevicePrimaryCtxRelease_v2>(device);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return end_primary_context<&cuDevicePrimaryCtxReset>(device);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return end_primary_context<&cuDevicePrimaryCtxReset_v2>(device);
}

CUresult cuCtxSynchronize() {
  return call_and_note<&cuCtxSynchronize>([](session::Session& session, CUresult status) {
    session.contexts().synchronized(session.driver().current_context(), status);
  });
}

CUresult cuCtxSynchronize_v2(CUcontext context) {
  return call_and_note<&cuCtxSynchronize_v2>(
      [&](session::Session& session, CUresult status) {
        session.contexts().synchronized(handle_of(context), status);
      },
      context);
}

}  // namespace barracuda::preload
