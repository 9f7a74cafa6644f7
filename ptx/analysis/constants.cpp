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
    if (module.statements[i].kind != StatementKind::kInstruction || instruction.operands.empty() ||
        instruction.operands[0].kind == Operand::Kind::kAddress) {
      continue;
    }
    // Every other first operand counts as a definition: fewer constants, never a wrong one.
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
  const Operand* const moved = moved_to(operand);
  return moved == nullptr ? std::nullopt : bits_of(*moved, bytes);
}

std::optional<NamedPlace> Constants::place_of(const Operand& address) const {
  if (address.kind != Operand::Kind::kAddress || address.elements.size() != 1) {
    return std::nullopt;
  }
  const Operand& base = address.elements[0];
  const bool is_held = base.kind == Operand::Kind::kRegister;
  const Operand* const named = is_held ? moved_to(base) : &base;
  if (named == nullptr || named->kind != Operand::Kind::kSymbol || !named->elements.empty() ||
      !named->component.empty()) {
    return std::nullopt;
  }
  return NamedPlace{.name = named->name,
                    .offset = address.offset + named->offset + (is_held ? base.offset : 0)};
}

const Operand* Constants::moved_to(const Operand& reg) const {
  const auto found = registers_.find(reg.name);
  return found == registers_.end() || found->second.definitions != 1 || !reg.component.empty()
             ? nullptr
             : found->second.value;
}

}  // namespace barracuda::ptx
