#include "emulator/decode/late_load.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "device_logger/memory_order.h"
#include "emulator/decode/weak_effect.h"
#include "emulator/execute/form.h"

namespace barracuda::emulator {

using ptx::Effect;
using ptx::OpcodeClass;
using ptx::StatementKind;
using ptx::StateSpace;

namespace {

using Names = std::vector<std::string_view>;

void add_names(const ptx::Operand& operand, Names& names) {
  if (!operand.name.empty()) {
    names.push_back(operand.name);
  }
  for (const ptx::Operand& element : operand.elements) {
    add_names(element, names);
  }
}

bool names_one_of(const ptx::Operand& operand, const Names& names) {
  return std::ranges::find(names, operand.name) != names.end() ||
         std::ranges::any_of(operand.elements, [&](const ptx::Operand& element) {
           return names_one_of(element, names);
         });
}

bool touches(const ptx::Instruction& instruction, const Names& names) {
  return std::ranges::find(names, instruction.predicate) != names.end() ||
         std::ranges::any_of(instruction.operands, [&](const ptx::Operand& operand) {
           return names_one_of(operand, names);
         });
}

// What only says that a thread reads or writes; it orders nothing.
bool logs_access(const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const std::size_t callee = !operands.empty() && operands[0].kind == ptx::Operand::Kind::kList;
  return instruction.opcode == Opcode::kCall && callee < operands.size() &&
         (operands[callee].name.starts_with("__barracuda_access") ||
          operands[callee].name.starts_with("__barracuda_store"));
}

bool may_be_seen(StateSpace space) {
  return space == StateSpace::kGlobal || space == StateSpace::kShared ||
         space == StateSpace::kGeneric;
}

bool is_tools(const ptx::Operand& operand) {
  return operand.name.starts_with(kToolPrefix) || std::ranges::any_of(operand.elements, is_tools);
}

bool is_seen_store(const ptx::Instruction& instruction, const Effect& effect) {
  return effect.opcode_class == OpcodeClass::kStore && may_be_seen(effect.space) &&
         std::ranges::none_of(instruction.operands, is_tools);
}

// A load may still take place behind it.
bool may_be_passed(const ptx::Instruction& instruction, const Effect& effect) {
  const bool is_load = effect.opcode_class == OpcodeClass::kLoad;
  if (is_load || effect.opcode_class == OpcodeClass::kStore) {
    return !is_special(instruction, effect) &&
           !(is_load ? wire::has_acquire(effect.order) : wire::has_release(effect.order));
  }
  return effect.opcode_class == OpcodeClass::kArithmetic || logs_access(instruction);
}

bool leads_elsewhere(StatementKind kind) {
  return kind != StatementKind::kInstruction && kind != StatementKind::kBlockOpen &&
         kind != StatementKind::kBlockClose && kind != StatementKind::kVariable &&
         kind != StatementKind::kLocation && kind != StatementKind::kFile &&
         kind != StatementKind::kPragma;
}

}  // namespace

std::optional<std::size_t> end_of_late_load(const ptx::Module& module, std::size_t load,
                                            std::size_t body_end) {
  const ptx::Instruction& instruction = module.statements[load].instruction;
  const Effect effect = ptx::classify(instruction);
  if (effect.opcode_class != OpcodeClass::kLoad || instruction.operands.empty() ||
      !may_be_seen(effect.space) || !may_be_passed(instruction, effect)) {
    return std::nullopt;
  }
  Names loaded;
  add_names(instruction.operands[0], loaded);
  bool has_store = false;
  std::size_t end = load + 1;
  for (; end < body_end; ++end) {
    const ptx::Statement& statement = module.statements[end];
    if (leads_elsewhere(statement.kind)) {
      break;
    }
    if (statement.kind != StatementKind::kInstruction) {
      continue;
    }
    const Effect its_effect = ptx::classify(statement.instruction);
    if (touches(statement.instruction, loaded) ||
        !may_be_passed(statement.instruction, its_effect)) {
      break;
    }
    has_store = has_store || is_seen_store(statement.instruction, its_effect);
  }
  return has_store ? std::optional(end) : std::nullopt;
}

std::optional<std::size_t> log_of_load(const ptx::Module& module, std::size_t load,
                                       std::size_t body_begin) {
  for (std::size_t i = load; i-- > body_begin;) {
    const ptx::Statement& statement = module.statements[i];
    if (statement.kind == StatementKind::kInstruction) {
      return logs_access(statement.instruction) ? std::optional(i) : std::nullopt;
    }
    if (statement.kind != StatementKind::kBlockClose && statement.kind != StatementKind::kLabel &&
        statement.kind != StatementKind::kLocation) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> logged_by(const ptx::Module& module, std::size_t call,
                                     std::size_t body_end) {
  if (!logs_access(module.statements[call].instruction)) {
    return std::nullopt;
  }
  for (std::size_t i = call + 1; i < body_end; ++i) {
    const StatementKind kind = module.statements[i].kind;
    if (kind == StatementKind::kInstruction) {
      return i;
    }
    if (kind != StatementKind::kBlockClose && kind != StatementKind::kLocation) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace barracuda::emulator
