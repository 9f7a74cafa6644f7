#include "ptx/analysis/register_uses.h"

#include "ptx/analysis/constants.h"

namespace barracuda::ptx {

bool is_computation(const Instruction& instruction, const Effect& effect) {
  return effect.opcode_class == OpcodeClass::kArithmetic && !instruction.operands.empty();
}

bool only_writes_first(const Instruction& instruction, const Effect& effect) {
  const bool writes = is_computation(instruction, effect) ||
                      effect.opcode_class == OpcodeClass::kLoad ||
                      effect.opcode_class == OpcodeClass::kAtomic;
  return writes && !instruction.operands.empty() &&
         instruction.operands[0].kind != Operand::Kind::kAddress;
}

RegisterUses::RegisterUses(const Program& program, const Function& function) {
  std::size_t depth = 0;
  for (std::size_t i = function.body_begin + 1; i < function.body_end; ++i) {
    const Statement& statement = program.module.statements[i];
    if (statement.kind == StatementKind::kBlockOpen) {
      ++depth;
    } else if (statement.kind == StatementKind::kBlockClose) {
      --depth;
    } else if (statement.kind == StatementKind::kInstruction) {
      read(i, statement.instruction, program.effects[i], depth);
    }
  }
}

void RegisterUses::read(std::size_t statement, const Instruction& instruction, const Effect& effect,
                        std::size_t depth) {
  if (!instruction.predicate.empty()) {
    registers_[instruction.predicate].uses.push_back({.statement = statement});
  }
  for (std::size_t n = 0; n < instruction.operands.size(); ++n) {
    const Operand& operand = instruction.operands[n];
    const bool may_define = n == 0 && operand.kind != Operand::Kind::kAddress;
    // Where it is not known which of the two the first operand is, it is both.
    const bool only_defines = n == 0 && only_writes_first(instruction, effect);
    visit_registers(operand, [&](const Operand& named) {
      Register& entry = registers_[named.name];
      if (may_define) {
        entry.definitions.push_back(statement);
        entry.is_in_inner_block = depth > 0;
      }
      if (!only_defines) {
        entry.uses.push_back({.statement = statement, .operand = static_cast<int>(n)});
      }
    });
  }
}

const RegisterUses::Register* RegisterUses::find(std::string_view name) const {
  const auto found = registers_.find(name);
  return found == registers_.end() ? nullptr : &found->second;
}

}  // namespace barracuda::ptx
