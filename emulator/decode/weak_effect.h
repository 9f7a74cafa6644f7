// What decides, of an instruction's text, how it fares where memory is weak.
#pragma once

#include <string_view>

#include "ptx/opcode.h"

namespace barracuda::emulator {

// Of the names that belong to the tool itself.
inline constexpr std::string_view kToolPrefix = "__barracuda_";

inline bool releases(wire::MemoryOrder order) {
  return order == wire::MemoryOrder::kRelease || order == wire::MemoryOrder::kAcqRel ||
         order == wire::MemoryOrder::kSeqCst;
}

inline bool acquires(wire::MemoryOrder order) {
  return order == wire::MemoryOrder::kAcquire || order == wire::MemoryOrder::kAcqRel ||
         order == wire::MemoryOrder::kSeqCst;
}

// What is read or written in another way than by plain loads and stores.
inline bool is_special(const ptx::Instruction& instruction) {
  return instruction.opcode == ptx::Opcode::kLdu || instruction.has(ptx::Modifier::kNc) ||
         instruction.has(ptx::Modifier::kMmio) || instruction.has(ptx::Modifier::kBulk) ||
         instruction.has(ptx::Modifier::kAsync);
}

}  // namespace barracuda::emulator
