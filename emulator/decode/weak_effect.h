// What decides, of an instruction's text, how it fares where memory is weak.
#pragma once

#include <string_view>

#include "ptx/opcode.h"

namespace barracuda::emulator {

// Of the names that belong to the tool itself.
inline constexpr std::string_view kToolPrefix = "__barracuda_";

// Of a load or store: it reads or writes in another way than plain ones.
inline bool is_special(const ptx::Instruction& instruction, const ptx::Effect& effect) {
  return effect.proxy != wire::Proxy::kGeneric || instruction.has(ptx::Modifier::kMmio);
}

}  // namespace barracuda::emulator
