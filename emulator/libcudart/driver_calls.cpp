#include "emulator/libcudart/driver_calls.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "base/early_return.h"
#include "emulator/libcuda.h"
#include "emulator/libcudart.h"
#include "emulator/libcudart/module/registry.h"

namespace barracuda::emulator::runtime {
namespace {

void* emulated_driver(const char* exported_name) {
  return driver::find_function(exported_name);
}

std::atomic<DriverResolver> g_resolver{&emulated_driver};
std::atomic<const DriverCalls*> g_calls{nullptr};

thread_local bool t_is_per_thread = false;

template <typename Function>
void resolve(DriverResolver resolver, const char* name, Function& function) {
  void* const address = resolver(name);
  if (address == nullptr) {
    std::fprintf(stderr, "BARRACUDA: the driver lacks %s, which the CUDA runtime needs\n", name);
    std::abort();
  }
  function = reinterpret_cast<Function>(address);
}

const DriverCalls* resolve_all(DriverResolver resolver) {
  auto* const calls = new DriverCalls;  // kept: other threads may still use it
#define FUNCTION(name, ...) resolve(resolver, #name, calls->name);
#define FUNCTION_PTSZ(name, ...) FUNCTION(name)
#define MISSING(...)
#include "emulator/libcuda.def"
  return calls;
}

struct PrimaryContext {
  std::mutex mutex;
  std::atomic<CUcontext> retained{nullptr};  // null: to be retained
  CUcontext last = nullptr;                  // what it was before a reset
};

PrimaryContext& primary_context() {
  static auto* const instance = new PrimaryContext;
  return *instance;
}

CUresult retain(const DriverCalls& calls) {
  PrimaryContext& primary = primary_context();
  const std::lock_guard lock(primary.mutex);
  if (primary.retained != nullptr) {
    return CUDA_SUCCESS;
  }
  CUcontext context = nullptr;
  RETURN_IF_FAILED(calls.cuDevicePrimaryCtxRetain(&context, 0));
  const bool is_renewed = primary.last != nullptr;
  primary.last = context;
  primary.retained = context;
  if (is_renewed) {
    registry().renew_managed_variables(calls);
  }
  return CUDA_SUCCESS;
}

}  // namespace

void set_driver_resolver(DriverResolver resolver) {
  g_resolver = resolver == nullptr ? &emulated_driver : resolver;
  g_calls = nullptr;
}

const DriverCalls& driver_calls() {
  if (const DriverCalls* calls = g_calls) {
    return *calls;
  }
  const DriverCalls* calls = resolve_all(g_resolver);
  g_calls = calls;
  return *calls;
}

CUresult enter(const DriverCalls& calls) {
  CUcontext current = nullptr;
  CUresult status = calls.cuCtxGetCurrent(&current);
  if (status == CUDA_ERROR_NOT_INITIALIZED) {
    status = calls.cuInit(0);
  }
  PrimaryContext& primary = primary_context();
  const bool is_other = current != nullptr && current != primary.last;
  if (status != CUDA_SUCCESS || is_other || (current != nullptr && primary.retained != nullptr)) {
    return status;
  }
  status = retain(calls);
  return status == CUDA_SUCCESS ? calls.cuCtxSetCurrent(primary.retained) : status;
}

void forget_context() {
  primary_context().retained = nullptr;
}

bool is_per_thread() {
  return t_is_per_thread;
}

CUstream stream_of(cudaStream_t stream) {
  return stream == nullptr && t_is_per_thread ? CU_STREAM_PER_THREAD : stream;
}

PerThreadScope::PerThreadScope() : outer_(t_is_per_thread) {
  t_is_per_thread = true;
}

PerThreadScope::~PerThreadScope() {
  t_is_per_thread = outer_;
}

}  // namespace barracuda::emulator::runtime
