// Host addresses of many bytes at once, for copies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/state/context.h"

namespace barracuda::emulator {

struct RangeAccess {
  std::uint32_t bytes = 0;
  std::uint32_t alignment = 16;
  bool is_write = false;
};

// Of the space that Instruction::flags (a Place) says; null: the launch has failed.
std::byte* resolve_range(Context& context, const Instruction& instruction, std::uint64_t address,
                         const RangeAccess& access, int lane);

}  // namespace barracuda::emulator
