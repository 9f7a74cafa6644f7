#include "ptx/analysis/constants.h"

#include <bit>

namespace barracuda::ptx {
namespace {

std::uint64_t low_bytes(std::uint64_t bits, std::uint32_t bytes) {
  return bytes >= 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

}  // namespace

std::optional<std::uint64_t> bits_of(const Operand& immediate, std::uint32_t bytes) {
  if (bytes == 0 || bytes > 8) {
    return std::nullopt;
  }
  if (immediate.kind == Operand::Kind::kInteger) {
    return low_bytes(immediate.bits, bytes);
  }
  if (immediate.kind != Operand::Kind::kFloat) {
    return std::nullopt;
  }
  if (immediate.float_bits == 8 * bytes) {
    return immediate.bits;
  }
  if (immediate.float_bits == 64 && bytes == 4) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(immediate.bits)));
  }
  return std::nullopt;
}

Constants::Constants(const Module& module, const Function& function) {
  for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
    const Instruction& instruction = module.statements[i].instruction;
    if (module.statements[i].kind != StatementKind::kInstruction || instruction.operands.empty()) {
      continue;
    }
    // Every first operand counts as a definition, stores' addresses too: fewer constants, never a
    // wrong one.
    define(instruction.operands[0]);
    if (instruction.opcode == Opcode::kMov && instruction.predicate.empty() &&
        instruction.operands.size() == 2 &&
        instruction.operands[0].kind == Operand::Kind::kRegister &&
        instruction.operands[0].component.empty()) {
      registers_[instruction.operands[0].name].value = &instruction.operands[1];
    }
  }
}

void Constants::define(const Operand& destination) {
  visit_registers(destination, [&](const Operand& name) { ++registers_[name.name].definitions; });
}

std::optional<std::uint64_t> Constants::value_of(const Operand& operand,
                                                 std::uint32_t bytes) const {
  if (operand.kind != Operand::Kind::kRegister) {
    return bits_of(operand, bytes);
  }
  const auto found = registers_.find(operand.name);
  if (found == registers_.end() || found->second.definitions != 1 ||
      found->second.value == nullptr || !operand.component.empty()) {
    return std::nullopt;
  }
  return bits_of(*found->second.value, bytes);
}

}  // namespace barracuda::ptx
