#include "preload/hooks.h"

#include <array>
#include <atomic>

#include "preload/driver_library.h"

namespace barracuda::preload {
namespace {

struct Hook {
  const char* name;
  void* function;
};

const std::array g_hooks = {
#define HOOK(name, function) Hook{#name, reinterpret_cast<void*>(&function)},
#include "preload/hooks.def"
#undef HOOK
};

}  // namespace

void* find_hook(std::string_view exported_name) {
  for (const Hook& hook : g_hooks) {
    if (exported_name == hook.name) {
      return hook.function;
    }
  }
  return nullptr;
}

void* replace_driver_function(void* function) {
  // Asked for hundreds of times by every runtime, so the driver's addresses are kept.
  static const auto originals = [] {
    std::array<void*, g_hooks.size()> found{};
    for (std::size_t i = 0; i < g_hooks.size(); ++i) {
      found[i] = real_driver_function(g_hooks[i].name);
    }
    return found;
  }();
  for (std::size_t i = 0; i < g_hooks.size(); ++i) {
    if (function != nullptr && originals[i] == function) {
      return g_hooks[i].function;
    }
  }
  return function;
}

}  // namespace barracuda::preload
