// What an instruction that only computes makes of given bits: integers, bits, comparisons and
// conversions. Floating point is carried as bits (moves, selections) and never computed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ptx/module.h"

namespace barracuda::ptx {

// The low bytes of a value, the others zero; and with its sign in all that is above them.
std::uint64_t zero_extended(std::uint64_t bits, std::uint32_t bytes);
std::uint64_t sign_extended(std::uint64_t bits, std::uint32_t bytes);

// The result that one destination register gets; `inputs` are the operands behind it, predicates as
// 0 and 1. None: an instruction, type or modifier that this does not know.
std::optional<std::uint64_t> literal_result(const Instruction& instruction,
                                            std::span<const std::uint64_t> inputs);

// setp: what the comparison, and its combination with a third operand, says, and what the second
// destination gets.
struct LiteralComparison {
  bool first = false, second = false;
};

std::optional<LiteralComparison> literal_comparison(const Instruction& instruction,
                                                    std::span<const std::uint64_t> inputs);

// What an atomic leaves in memory that held `old`; of a compare-and-swap the first input is what is
// compared with. None: an operation that this does not know.
std::optional<std::uint64_t> literal_update(const Instruction& instruction, std::uint64_t old,
                                            std::span<const std::uint64_t> inputs);

}  // namespace barracuda::ptx
