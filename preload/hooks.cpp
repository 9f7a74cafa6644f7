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

const std::array kHooks = {
#define HOOK(name, function) Hook{#name, reinterpret_cast<void*>(&function)},
#include "preload/hooks.def"
#undef HOOK
};

}  // namespace

void* find_hook(std::string_view exported_name) {
  for (const Hook& hook : kHooks) {
    if (exported_name == hook.name) {
      return hook.function;
    }
  }
  return nullptr;
}

void* replace_driver_function(void* function) {
  // Asked for hundreds of times by every runtime, so the driver's addresses are kept.
  static const auto originals = [] {
    std::array<void*, kHooks.size()> found{};
    for (std::size_t i = 0; i < kHooks.size(); ++i) {
      found[i] = real_driver_function(kHooks[i].name);
    }
    return found;
  }();
  for (std::size_t i = 0; i < kHooks.size(); ++i) {
    if (function != nullptr && originals[i] == function) {
      return kHooks[i].function;
    }
  }
  return function;
}

}  // namespace barracuda::preload
