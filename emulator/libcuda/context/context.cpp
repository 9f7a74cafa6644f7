#include "emulator/libcuda/context/context.h"

#include <map>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/early_return.h"
#include "emulator/libcuda/event/event.h"
#include "emulator/libcuda/memory/allocation.h"
#include "emulator/libcuda/memory/array.h"
#include "emulator/libcuda/memory/mapping.h"
#include "emulator/libcuda/module/module.h"
#include "emulator/libcuda/stream/stream.h"

namespace barracuda::emulator::driver {
namespace {

// The process that called cuInit; 0: none. A child of it must not use what it has inherited.
std::atomic<pid_t> g_owner{0};

// A thread's stack of contexts as a list that shares its tails. Entries are never freed, and there
// is one for each (context, below): a thread's pointer to its top needs no destructor, so calls are
// still right when the thread's own objects are gone.
struct StackEntry {
  Context* context;
  const StackEntry* below;
};

struct Contexts {
  std::mutex mutex;
  std::vector<std::unique_ptr<Context>> all;
  std::map<std::pair<Context*, const StackEntry*>, StackEntry> entries;
};

constinit thread_local const StackEntry* t_top = nullptr;

// Leaked: calls come until the process is gone.
Contexts& contexts() {
  static auto* const instance = new Contexts;
  return *instance;
}

Context& make_context() {
  Contexts& registry = contexts();
  const std::lock_guard lock(registry.mutex);
  registry.all.push_back(std::make_unique<Context>());
  registry.all.back()->id = registry.all.size();
  return *registry.all.back();
}

void push(Context& context) {
  Contexts& registry = contexts();
  const std::lock_guard lock(registry.mutex);
  t_top = &registry.entries
               .try_emplace({&context, t_top}, StackEntry{.context = &context, .below = t_top})
               .first->second;
}

void pop() {
  t_top = t_top->below;
}

CUresult create(CUcontext* result, unsigned flags, CUdevice device) {
  RETURN_IF_FAILED(require_initialized());
  RETURN_IF(result == nullptr || !are_context_flags(flags), CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(device != 0, CUDA_ERROR_INVALID_DEVICE);
  Context& context = make_context();
  context.flags = flags;
  context.references = 1;
  context.is_alive = true;
  push(context);
  *result = context.handle();
  return CUDA_SUCCESS;
}

CUresult synchronize(Context& context) {
  RETURN_IF_FAILED(check_context_wait());
  finish_all_streams();
  return context.failure;
}

}  // namespace

Context::Context() {
  limits[CU_LIMIT_STACK_SIZE] = 1024;
  limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1U << 20;
  limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8U << 20;
  limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
  limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
}

Context& primary_context() {
  static Context& context = []() -> Context& {
    Context& primary = make_context();
    primary.is_primary = true;
    return primary;
  }();
  return context;
}

bool are_context_flags(unsigned flags) {
  const unsigned waits = flags & CU_CTX_SCHED_MASK;
  return (flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0 &&
         (waits <= CU_CTX_SCHED_YIELD || waits == CU_CTX_SCHED_BLOCKING_SYNC);
}

Context* find_context(CUcontext handle) {
  Contexts& registry = contexts();
  const std::lock_guard lock(registry.mutex);
  for (const std::unique_ptr<Context>& context : registry.all) {
    if (context->handle() == handle) {
      return context.get();
    }
  }
  return nullptr;
}

Context* current_context() {
  return t_top == nullptr ? nullptr : t_top->context;
}

CUresult initialize() {
  pid_t expected = 0;
  const pid_t self = getpid();
  return g_owner.compare_exchange_strong(expected, self) || expected == self
             ? CUDA_SUCCESS
             : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult require_initialized() {
  return g_owner == getpid() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult require_context() {
  RETURN_IF_FAILED(require_initialized());
  const Context* context = current_context();
  RETURN_IF(context == nullptr, CUDA_ERROR_INVALID_CONTEXT);
  return context->is_alive ? context->failure.load() : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult require_device(CUdevice device) {
  const CUresult status = require_initialized();
  return status == CUDA_SUCCESS && device != 0 ? CUDA_ERROR_INVALID_DEVICE : status;
}

void release_resources(Context& context) {
  finish_all_streams();
  release_modules(context);
  release_streams(context);
  release_events(context);
  release_textures(context);
  release_arrays(context);
  release_mappings(context);
  release_allocations(context);
}

CUresult cuCtxCreate_v2(CUcontext* result, unsigned flags, CUdevice device) {
  return create(result, flags, device);
}

CUresult cuCtxCreate_v3(CUcontext* result, CUexecAffinityParam* affinity, int affinity_count,
                        unsigned flags, CUdevice device) {
  RETURN_IF(affinity_count != 0 || affinity != nullptr, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  return create(result, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext* result, CUctxCreateParams* parameters, unsigned flags,
                        CUdevice device) {
  RETURN_IF(parameters != nullptr &&
                (parameters->numExecAffinityParams != 0 || parameters->cigParams != nullptr),
            CUDA_ERROR_NOT_SUPPORTED);
  return create(result, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  RETURN_IF_FAILED(require_initialized());
  Context* context = find_context(handle);
  RETURN_IF(context == nullptr || context->is_primary || !context->is_alive.exchange(false),
            CUDA_ERROR_INVALID_CONTEXT);
  release_resources(*context);
  if (current_context() == context) {
    pop();
  }
  return CUDA_SUCCESS;
}

CUresult cuCtxAttach(CUcontext* result, unsigned flags) {
  RETURN_IF(result == nullptr || flags != 0, CUDA_ERROR_INVALID_VALUE);
  ++current_context()->references;
  *result = current_context()->handle();
  return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext handle) {
  Context* context = find_context(handle);
  RETURN_IF(context == nullptr || !context->is_alive, CUDA_ERROR_INVALID_CONTEXT);
  if (--context->references != 0) {
    return CUDA_SUCCESS;
  }
  return driver::cuCtxDestroy_v2(handle);
}

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  Context* context = find_context(handle);
  RETURN_IF(context == nullptr || !context->is_alive, CUDA_ERROR_INVALID_CONTEXT);
  push(*context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext* result) {
  RETURN_IF(t_top == nullptr, CUDA_ERROR_INVALID_CONTEXT);
  if (result != nullptr) {
    *result = t_top->context->handle();
  }
  pop();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext handle) {
  Context* context = nullptr;
  if (handle != nullptr) {
    context = find_context(handle);
    RETURN_IF(context == nullptr || !context->is_alive, CUDA_ERROR_INVALID_CONTEXT);
  }
  if (t_top != nullptr) {
    pop();
  }
  if (context != nullptr) {
    push(*context);
  }
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* result) {
  RETURN_IF(result == nullptr, CUDA_ERROR_INVALID_VALUE);
  Context* context = current_context();
  *result = context == nullptr ? nullptr : context->handle();
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  return synchronize(*current_context());
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  Context* context = find_context(handle);
  RETURN_IF(context == nullptr || !context->is_alive, CUDA_ERROR_INVALID_CONTEXT);
  return synchronize(*context);
}

}  // namespace barracuda::emulator::driver
