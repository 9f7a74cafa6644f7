// The value that an atomic leaves behind, computed from the value it read and its operands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/analysis/program.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/module.h"

namespace barracuda::ptx {

// destination (64 bits) := the low `bytes` bytes of a register of `declared` bytes; empty if that
// cannot be written.
std::string write_register_value(std::string_view destination, const Operand& operand,
                                 std::uint32_t declared, std::uint32_t bytes);

struct AtomicResult {
  std::string declarations;
  std::string before;  // keeps the operands, which the access may overwrite
  std::string text;    // %__barracuda_w from %__barracuda_r; empty if it is not computed
};

// Around a compare-and-swap that its loop makes until it succeeds, and its hooks: who reads before
// it that it would fail takes what was read for its result. That is what a compare-and-swap that
// fails does, and nothing else comes of it, so it is not logged. `label` is that of no other text.
HookText look_first(const PlannedSite& site, const Instruction& cas, std::uint32_t label);

// A failed compare-and-swap gets its lane flags in %__barracuda_n.
AtomicResult write_atomic_result(const PlannedSite& site, const Instruction& instruction);

}  // namespace barracuda::ptx
