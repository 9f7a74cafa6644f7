// The outermost frame of every hook of the driver: what the table of hooks holds. Nothing that is
// thrown in the tool gets past it; the program's call is then made as the program made it, unless
// the driver has answered it already.
//
// It is not noexcept, for one thing has to pass: a thread that is cancelled, or that leaves by
// pthread_exit in a function that the driver calls back, is unwound through here, and noexcept
// would make std::terminate of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cxxabi.h>

#include "emulator/libcuda.h"
#include "preload/hook.h"
#include "preload/hook_failure.h"

namespace barracuda::preload {

// A name as a template's argument.
template <std::size_t kSize>
struct Name {
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is one
  consteval Name(const char (&literal)[kSize]) { std::copy_n(literal, kSize, text); }

  char text[kSize] = {};
};

template <Name kName>
inline constexpr auto kText = kName;

// What the program gets of a hook that has failed before the driver was asked: the driver's own
// answer, or, where that would be a kernel without what it needs, that there is no memory, which is
// the likeliest cause.
enum class InPlace : std::uint8_t { kDriver, kRefusal };

template <Name kName, auto kHook, InPlace kInPlace = InPlace::kDriver>
struct HookEdge;

template <Name kName, typename... Arguments, CUresult (*kHook)(Arguments...), InPlace kInPlace>
struct HookEdge<kName, kHook, kInPlace> {
  static CUresult call(Arguments... arguments) {
    const char* const name = kText<kName>.text;
    constexpr bool kIsPerThread = emulator::driver::is_per_thread_form(kText<kName>.text);
    HookCall here(name, __builtin_return_address(0), kIsPerThread);
    try {
      here.fail_if_told(HookCall::FailurePoint::kEdge);
      return kHook(arguments...);
    } catch (const abi::__forced_unwind&) {
      throw;
    } catch (...) {
      work_failed(Loss::kOrder, current_exception_text());
    }
    if (here.answer()) {
      return static_cast<CUresult>(*here.answer());
    }
    if constexpr (kInPlace == InPlace::kRefusal) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    } else {
      return Original<CUresult(Arguments...)>(name)(arguments...);
    }
  }
};

}  // namespace barracuda::preload
