// The instruction that a thread of a literal kernel is at, and what its operands hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "ptx/analysis/literal_places.h"
#include "ptx/analysis/literal_run.h"
#include "ptx/literal_kernel.h"
#include "ptx/module.h"
#include "ptx/opcode.h"

namespace barracuda::ptx {

class LiteralInstruction {
 public:
  // Goes on with the thread. Both must outlive it.
  LiteralInstruction(const LiteralParts& parts, const LiteralThread& thread)
      : parts_(parts), thread_(thread) {}

  [[nodiscard]] const Instruction& instruction() const {
    return parts_.module.statements[thread_.statement].instruction;
  }

  [[nodiscard]] const Effect& effect() const {
    return parts_.effects[thread_.statement - parts_.function.body_begin];
  }

  [[nodiscard]] std::uint32_t element_bytes() const { return size_of(effect().type); }

  // Errors with its line.
  [[nodiscard]] Diagnostic wrong(const std::string& message) const;
  [[nodiscard]] Diagnostic unknown() const;

  [[nodiscard]] Expected<LiteralValue> value_of(const Operand& operand) const;
  // Of the operands from that one on.
  [[nodiscard]] Expected<std::vector<LiteralValue>> values_from(std::size_t first) const;
  // Element by element.
  [[nodiscard]] Expected<std::vector<LiteralValue>> stored_values() const;
  // An element of memory that no other thread changes.
  [[nodiscard]] Expected<LiteralValue> own_value(StateSpace space, std::uint64_t offset) const;

  // Where an access with that address leads.
  [[nodiscard]] LiteralAddress place_of(std::uint64_t address) const;
  // cvta and isspacep; nothing: the instruction names no space that is known.
  [[nodiscard]] std::optional<std::uint64_t> converted_address(std::uint64_t address) const;
  [[nodiscard]] std::optional<std::uint64_t> is_of_space(std::uint64_t address) const;

 private:
  [[nodiscard]] Expected<std::uint64_t> special(const Operand& operand) const;
  [[nodiscard]] Expected<LiteralValue> held_in(const Operand& operand) const;
  [[nodiscard]] StateSpace named_space() const;

  const LiteralParts& parts_;
  const LiteralThread& thread_;
};

}  // namespace barracuda::ptx
