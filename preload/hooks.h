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

#define HOOK(name, function) decltype(::name) function;  // NOLINT(bugprone-macro-parentheses)
#include "preload/hooks.def"
#undef HOOK

// The exported name of the driver's function that a hook stands before. Of each hook there is one
// row.
template <auto Function>
extern const char* const kHookedName;
#define HOOK(name, function) \
  template <>                \
  inline constexpr const char* kHookedName<&function> = #name;
#include "preload/hooks.def"
#undef HOOK

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
