#include "preload/hooks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "preload/copy_hooks.h"
#include "preload/driver_library.h"

namespace barracuda::preload {
namespace {

// NOLINTNEXTLINE(readability-function-cognitive-complexity): a table
const std::array g_hooks = {
#define ROW(name, ...) Hook{#name, reinterpret_cast<void*>(&HookEdge<#name, __VA_ARGS__>::call)},
#define HOOK(name, hook) ROW(name, &preload::hook)
#define KERNEL_HOOK(name, hook) ROW(name, &preload::hook, InPlace::kRefusal)
#define COPY_HOOK(name, hook) ROW(name, &CopyHook<decltype(::hook)>::template call<#name>)
#define FUNCTION(name, since, ...) __VA_OPT__(__VA_ARGS__(name, name))
#define FUNCTION_PTSZ(name, since, ...) \
  __VA_OPT__(__VA_ARGS__(name, name) __VA_ARGS__(name##_ptsz, name))
#define FUNCTION_PTDS(name, since, ...) \
  __VA_OPT__(__VA_ARGS__(name, name) __VA_ARGS__(name##_ptds, name))
#include "emulator/libcuda.def"
#undef ROW
};

}  // namespace

void* find_hook(std::string_view exported_name) {
  const auto* const found = std::ranges::find(g_hooks, exported_name, &Hook::name);
  return found == g_hooks.end() ? nullptr : found->function;
}

void* replace_driver_function(void* function) {
  // Asked for hundreds of times by every runtime, so the driver's addresses are kept.
  static const auto originals = [] {
    std::array<void*, g_hooks.size()> found{};
    for (std::size_t i = 0; i < found.size(); ++i) {
      found[i] = unhooked_driver_function(g_hooks[i].name);
    }
    return found;
  }();
  const auto* const found = std::ranges::find(originals, function);
  return function == nullptr || found == originals.end()
             ? function
             : g_hooks[static_cast<std::size_t>(found - originals.begin())].function;
}

}  // namespace barracuda::preload
