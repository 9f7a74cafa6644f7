// A call of a native function: what the instruction's extra is.
#pragma once

#include "emulator/native_function.h"
#include "emulator/state/context.h"
#include "emulator/state/program.h"

namespace barracuda::emulator {

inline constexpr std::size_t kMaximumNativeArguments = 8;

struct NativeSite {
  CallSite call;
  const NativeFunction* function = nullptr;
  std::uint32_t shared_offset = 0;  // of its variable
};

Step execute_native(Context& c, const Instruction& in, std::uint32_t mask);

}  // namespace barracuda::emulator
