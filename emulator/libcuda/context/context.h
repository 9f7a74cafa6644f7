// Contexts of the one device, and which one is current to the calling thread. A context object is
// never freed, so that a stale handle can be told from a live one. A failed kernel leaves its error
// in the context, where every later call finds it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "emulator/libcuda/calls.h"

namespace barracuda::emulator::driver {

struct Context {
  std::uint64_t id = 0;
  bool is_primary = false;
  std::atomic<bool> is_alive{false};
  std::atomic<unsigned> references{0};  // primary: retains; others: attaches
  std::atomic<unsigned> flags{0};
  std::atomic<CUresult> failure{CUDA_SUCCESS};
  std::atomic<CUfunc_cache> cache{CU_FUNC_CACHE_PREFER_NONE};
  std::array<std::atomic<std::size_t>, CU_LIMIT_MAX> limits{};

  Context();

  [[nodiscard]] CUcontext handle() { return reinterpret_cast<CUcontext>(this); }
};

Context& primary_context();
// A known way to wait, and no bit that means nothing.
bool are_context_flags(unsigned flags);
// Null if it is no context that was ever made.
Context* find_context(CUcontext handle);
Context* current_context();  // null: none
// cuInit. A child process cannot go on with its parent's driver: CUDA_ERROR_NOT_INITIALIZED.
CUresult initialize();

// What a call must know first: cuInit was called; a context is current, alive, and has not failed;
// cuInit was called and there is such a device.
CUresult require_initialized();
CUresult require_context();
CUresult require_device(CUdevice device);
// Frees everything that lives in the context.
void release_resources(Context& context);

}  // namespace barracuda::emulator::driver
