#include "preload/hooks.h"

#include <array>
#include <cstddef>

#include "preload/copy_hooks.h"
#include "preload/driver_library.h"
#include "preload/hook_edge.h"

namespace barracuda::preload {
namespace {

const std::array g_hooks = {
#define HOOK(name, function) \
  Hook{#name, reinterpret_cast<void*>(&HookEdge<#name, &function>::call)},
#define KERNEL_HOOK(name, function) \
  Hook{#name, reinterpret_cast<void*>(&HookEdge<#name, &function, InPlace::kRefusal>::call)},
#include "preload/hooks.def"
#undef HOOK
};

constexpr std::size_t kHookCount = g_hooks.size() + kCopyHookCount;

const Hook& hook_at(std::size_t index) {
  return index < g_hooks.size() ? g_hooks[index] : copy_hooks()[index - g_hooks.size()];
}

}  // namespace

void* find_hook(std::string_view exported_name) {
  for (std::size_t i = 0; i < kHookCount; ++i) {
    if (exported_name == hook_at(i).name) {
      return hook_at(i).function;
    }
  }
  return nullptr;
}

void* replace_driver_function(void* function) {
  // Asked for hundreds of times by every runtime, so the driver's addresses are kept.
  static const auto originals = [] {
    std::array<void*, kHookCount> found{};
    for (std::size_t i = 0; i < kHookCount; ++i) {
      found[i] = unhooked_driver_function(hook_at(i).name);
    }
    return found;
  }();
  for (std::size_t i = 0; i < kHookCount; ++i) {
    if (function != nullptr && originals[i] == function) {
      return hook_at(i).function;
    }
  }
  return function;
}

}  // namespace barracuda::preload
