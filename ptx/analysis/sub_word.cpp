#include "ptx/analysis/sub_word.h"

#include <algorithm>
#include <array>

#include "ptx/analysis/constants.h"

namespace barracuda::ptx {
namespace {

constexpr std::uint64_t kByteMask = 0xFF, kHalfMask = 0xFFFF;

bool is_register(const Instruction& instruction, std::size_t operand) {
  return operand < instruction.operands.size() &&
         instruction.operands[operand].kind == Operand::Kind::kRegister;
}

// Whether the result is what one of `registers` holds, or some of its bits.
template <std::size_t kCount>
bool carries(const Instruction& instruction, const std::array<Opcode, kCount>& opcodes,
             const auto& registers) {
  return std::ranges::find(opcodes, instruction.opcode) != opcodes.end() &&
         is_register(instruction, 0) && is_register(instruction, 1) &&
         registers.contains(instruction.operands[1].name);
}

// `and A, X, -word`.
bool aligns(const Instruction& instruction, std::uint32_t word) {
  if (instruction.opcode != Opcode::kAnd || !instruction.predicate.empty() ||
      instruction.operands.size() != 3 || !is_register(instruction, 1) ||
      instruction.operands[2].kind != Operand::Kind::kInteger) {
    return false;
  }
  const std::uint64_t mask = instruction.operands[2].bits;
  return instruction.has(Modifier::kB64)   ? mask == ~std::uint64_t{word - 1}
         : instruction.has(Modifier::kB32) ? static_cast<std::uint32_t>(mask) == ~(word - 1)
                                           : false;
}

}  // namespace

template <typename Visit>
void SubWords::for_each_instruction(Visit visit) const {
  for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
    const Statement& statement = program_.module.statements[i];
    if (statement.kind == StatementKind::kInstruction) {
      visit(i, statement.instruction);
    }
  }
}

void SubWords::read_definitions() {
  if (is_read_) {
    return;
  }
  is_read_ = true;
  for_each_instruction([&](std::size_t i, const Instruction& instruction) {
    if (!instruction.operands.empty() && instruction.operands[0].kind != Operand::Kind::kAddress) {
      visit_registers(instruction.operands[0], [&](const Operand& written) {
        Definition& definition = definitions_[written.name];
        ++definition.count;
        definition.statement = i;
      });
    }
  });
}

// Of a register that is defined once.
const Instruction* SubWords::definition_of(std::string_view name) const {
  const auto found = definitions_.find(name);
  return found == definitions_.end() || found->second.count != 1
             ? nullptr
             : &program_.module.statements[found->second.statement].instruction;
}

std::optional<SubWords::Alignment> SubWords::alignment_of(std::size_t access,
                                                          std::uint32_t word) const {
  const Operand* address = address_of(program_.module.statements[access], program_.effects[access]);
  if (address == nullptr || address->kind != Operand::Kind::kAddress || address->offset != 0 ||
      address->elements.size() != 1) {
    return std::nullopt;
  }
  constexpr int kMostCopies = 16;  // a register may be written once, by itself
  const Operand* base = address->elements.data();
  for (int copies = 0;
       copies < kMostCopies && base->kind == Operand::Kind::kRegister && base->component.empty();
       ++copies) {
    const Instruction* definition = definition_of(base->name);
    if (definition == nullptr) {
      return std::nullopt;
    }
    if (aligns(*definition, word)) {
      return Alignment{.statement = definitions_.at(base->name).statement,
                       .unaligned = definition->operands[1].name};
    }
    const bool is_copy = definition->opcode == Opcode::kMov || definition->opcode == Opcode::kCvta;
    if (!is_copy || definition->operands.size() != 2) {
      return std::nullopt;
    }
    base = &definition->operands[1];
  }
  return std::nullopt;
}

// Registers by which the bytes at that address are shifted, among others.
SubWords::Registers SubWords::shifts_by(std::string_view unaligned) const {
  constexpr std::array kOpcodes{Opcode::kCvt, Opcode::kAnd, Opcode::kShl, Opcode::kMov};
  Registers shifts{unaligned};
  for_each_instruction([&](std::size_t, const Instruction& instruction) {
    if (carries(instruction, kOpcodes, shifts)) {
      shifts.insert(instruction.operands[0].name);
    }
  });
  return shifts;
}

std::optional<std::uint64_t> SubWords::constant(const Operand& operand) const {
  if (operand.kind != Operand::Kind::kRegister) {
    return bits_of(operand, 4);
  }
  const Instruction* definition = definition_of(operand.name);
  return definition != nullptr && definition->opcode == Opcode::kMov &&
                 definition->operands.size() == 2
             ? bits_of(definition->operands[1], 4)
             : std::nullopt;
}

// The widest mask that is put where the bytes are: of a constant that is stored there, narrower or
// as wide, one is made as well. 0: none.
std::uint32_t SubWords::masked_bytes(const Registers& shifts) const {
  std::uint32_t bytes = 0;
  for_each_instruction([&](std::size_t, const Instruction& instruction) {
    if (instruction.opcode != Opcode::kShl || !is_register(instruction, 2) ||
        !shifts.contains(instruction.operands[2].name)) {
      return;
    }
    const auto mask = constant(instruction.operands[1]);
    bytes = std::max(bytes, mask == kHalfMask ? 2U : mask == kByteMask ? 1U : 0U);
  });
  return bytes;
}

// What the load reads is shifted down to its bytes, or nobody looks at it.
bool SubWords::shifts_value(std::size_t load, const Registers& shifts) const {
  constexpr std::array kOpcodes{Opcode::kCvt, Opcode::kMov};
  Registers values{program_.module.statements[load].instruction.operands[0].name};
  bool is_shifted = false, is_used = false;
  for_each_instruction([&](std::size_t, const Instruction& instruction) {
    for (std::size_t operand = 1; operand < instruction.operands.size(); ++operand) {
      visit_registers(instruction.operands[operand], [&](const Operand& read) {
        is_used = is_used || values.contains(read.name);
      });
    }
    if (carries(instruction, kOpcodes, values)) {
      values.insert(instruction.operands[0].name);
    }
    is_shifted = is_shifted ||
                 (instruction.opcode == Opcode::kShr && is_register(instruction, 1) &&
                  is_register(instruction, 2) && values.contains(instruction.operands[1].name) &&
                  shifts.contains(instruction.operands[2].name));
  });
  return is_shifted || !is_used;
}

// What the load reads is what a compare-and-swap of the same word expects.
bool SubWords::is_compared(std::size_t load, std::size_t alignment) const {
  constexpr std::array kOpcodes{Opcode::kMov};
  Registers values{program_.module.statements[load].instruction.operands[0].name};
  bool is_expected = false;
  for_each_instruction([&](std::size_t i, const Instruction& instruction) {
    if (carries(instruction, kOpcodes, values)) {
      values.insert(instruction.operands[0].name);
    }
    const Effect& effect = program_.effects[i];
    if (effect.is_cas && is_register(instruction, 2) &&
        values.contains(instruction.operands[2].name)) {
      const auto aligned = alignment_of(i, size_of(effect.type));
      is_expected = is_expected || (aligned && aligned->statement == alignment);
    }
  });
  return is_expected;
}

std::optional<SubWord> SubWords::find(std::size_t statement) {
  const Effect& effect = program_.effects[statement];
  const std::uint32_t word = size_of(effect.type);
  const bool is_load = effect.opcode_class == OpcodeClass::kLoad &&
                       effect.order != wire::MemoryOrder::kWeak && effect.elements == 1 &&
                       is_register(program_.module.statements[statement].instruction, 0);
  if (!(is_load && (word == 2 || word == 4)) && !(effect.is_cas && word == 4)) {
    return std::nullopt;
  }
  read_definitions();
  const auto aligned = alignment_of(statement, word);
  if (!aligned) {
    return std::nullopt;
  }
  const Registers shifts = shifts_by(aligned->unaligned);
  if (word == 2) {
    return shifts_value(statement, shifts)
               ? std::optional(SubWord{.aligned_at = aligned->statement, .word = 2, .bytes = 1})
               : std::nullopt;
  }
  const std::uint32_t bytes = masked_bytes(shifts);
  if (bytes == 0 || (is_load && !is_compared(statement, aligned->statement))) {
    return std::nullopt;
  }
  return SubWord{.aligned_at = aligned->statement, .word = 4, .bytes = bytes};
}

}  // namespace barracuda::ptx
