// The hooks, declared with the driver's own signatures, and found by the names that the driver
// exports.
#pragma once

#include <string_view>

// Makes cuda.h declare every exported name as it is, _v2, _ptsz and _ptds forms included.
#ifndef __CUDA_API_VERSION_INTERNAL
#  define __CUDA_API_VERSION_INTERNAL  // NOLINT(readability-identifier-naming): CUDA's name
#endif
#include <cuda.h>

namespace barracuda::preload {

// NOLINTBEGIN(bugprone-macro-parentheses): declarations
// Those of emulator/libcuda.def's rows, by the names of the driver's functions.
#define KERNEL_HOOK HOOK
#define COPY_HOOK(name)
#define HOOK(name) decltype(::name) name;
#define FUNCTION(name, since, ...) __VA_OPT__(__VA_ARGS__(name))
#define FUNCTION_PTSZ(name, since, ...) FUNCTION(name, since, __VA_ARGS__)
#define FUNCTION_PTDS(name, since, ...) FUNCTION(name, since, __VA_ARGS__)
#include "emulator/libcuda.def"
#undef HOOK

// The exported names of what a hook stands before, both the same where there is one form.
struct HookedForms {
  const char* plain = nullptr;
  const char* per_thread = nullptr;
};

template <auto Function>
inline constexpr HookedForms kHookedForms{};
#undef COPY_HOOK
#define COPY_HOOK(name, form)
#define HOOK(name, form) \
  template <>            \
  inline constexpr HookedForms kHookedForms<&preload::name>{.plain = #name, .per_thread = #form};
#define FUNCTION(name, since, ...) __VA_OPT__(__VA_ARGS__(name, name))
#define FUNCTION_PTSZ(name, since, ...) __VA_OPT__(__VA_ARGS__(name, name##_ptsz))
#define FUNCTION_PTDS(name, since, ...) __VA_OPT__(__VA_ARGS__(name, name##_ptds))
#include "emulator/libcuda.def"
#undef HOOK
#undef KERNEL_HOOK
#undef COPY_HOOK

// NOLINTEND(bugprone-macro-parentheses)

struct Hook {
  const char* name;
  void* function;
};

// This thread runs a function that a stream called (callback_hooks.cpp).
bool in_host_callback();

// Null if the function is not hooked.
void* find_hook(std::string_view exported_name);
// What stands in for this function of the driver: its hook, else itself.
void* replace_driver_function(void* function);

}  // namespace barracuda::preload
