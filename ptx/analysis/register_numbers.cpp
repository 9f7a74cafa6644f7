#include "ptx/analysis/register_numbers.h"

#include <algorithm>
#include <ranges>

#include "base/number_text.h"
#include "ptx/analysis/constants.h"
#include "ptx/analysis/label_scopes.h"
#include "ptx/opcode.h"

namespace barracuda::ptx {
namespace {

bool writes_first_operand(const Effect& effect) {
  return effect.opcode_class == OpcodeClass::kArithmetic ||
         effect.opcode_class == OpcodeClass::kLoad || effect.opcode_class == OpcodeClass::kAtomic ||
         effect.opcode_class == OpcodeClass::kWarpCollective;
}

class Liveness {
 public:
  Liveness(const Module& module, const Function& function, const RegisterNumbers& registers)
      : module_(module),
        function_(function),
        registers_(registers),
        labels_(module, function),
        live_(function.body_end - function.body_begin + 1,
              std::vector<bool>(registers.count(), false)) {}

  LiveRegisters run() && {
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t i = function_.body_end; i-- > function_.body_begin;) {
        std::vector<bool> before = live_before(i);
        if (before != live_[i - function_.body_begin]) {
          live_[i - function_.body_begin] = std::move(before);
          grows = true;
        }
      }
    }
    return std::move(live_);
  }

 private:
  void add(std::vector<bool>& to, std::size_t statement) const {
    if (statement < function_.body_begin || statement > function_.body_end) {
      return;
    }
    const std::vector<bool>& from = live_[statement - function_.body_begin];
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i] = to[i] || from[i];
    }
  }

  void set(std::vector<bool>& live, const Operand& operand, bool value) const {
    if (const std::uint32_t number = registers_.of(operand); number != kNoRegister) {
      live[number] = value;
    }
    for (const Operand& element : operand.elements) {
      set(live, element, value);
    }
  }

  void add_targets(std::vector<bool>& live, std::size_t statement) const {
    const auto& operands = module_.statements[statement].instruction.operands;
    if (!operands.empty()) {
      add(live, labels_.find(statement, operands.back().name));
    }
  }

  [[nodiscard]] std::vector<bool> live_before(std::size_t statement) const {
    std::vector<bool> live(registers_.count(), false);
    const Statement& each = module_.statements[statement];
    if (each.kind != StatementKind::kInstruction) {
      add(live, statement + 1);
      return live;
    }
    const Effect effect = classify(each.instruction);
    const bool is_guarded = !each.instruction.predicate.empty();
    const bool ends = effect.opcode_class == OpcodeClass::kReturn ||
                      effect.opcode_class == OpcodeClass::kExit ||
                      effect.opcode_class == OpcodeClass::kTrap;
    if (effect.opcode_class == OpcodeClass::kBranch) {
      add_targets(live, statement);
    }
    if (is_guarded || !(ends || effect.opcode_class == OpcodeClass::kBranch)) {
      add(live, statement + 1);
    }
    const auto& operands = each.instruction.operands;
    const bool writes = writes_first_operand(effect) && !operands.empty();
    if (writes && !is_guarded) {
      set(live, operands.front(), false);
    }
    for (std::size_t i = writes ? 1 : 0; i < operands.size(); ++i) {
      set(live, operands[i], true);
    }
    if (const std::uint32_t guard = registers_.guard_of(statement); guard != kNoRegister) {
      live[guard] = true;
    }
    return live;
  }

  const Module& module_;
  const Function& function_;
  const RegisterNumbers& registers_;
  LabelScopes labels_;
  LiveRegisters live_;
};

}  // namespace

RegisterNumbers::RegisterNumbers(const Module& module, const Function& function) {
  for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
    const Statement& statement = module.statements[i];
    if (statement.kind == StatementKind::kBlockOpen) {
      scopes_.emplace_back();
    } else if (statement.kind == StatementKind::kBlockClose) {
      scopes_.pop_back();
    } else if (statement.kind == StatementKind::kVariable) {
      std::ranges::for_each(statement.variables, [&](const Variable& each) { declare(each); });
    } else if (statement.kind == StatementKind::kInstruction) {
      std::ranges::for_each(statement.instruction.operands,
                            [&](const Operand& each) { name(each); });
      if (!statement.instruction.predicate.empty()) {
        guards_[i] = find(statement.instruction.predicate);
      }
    }
  }
}

std::uint32_t RegisterNumbers::of(const Operand& operand) const {
  const auto found = operands_.find(&operand);
  return found == operands_.end() ? kNoRegister : found->second;
}

std::uint32_t RegisterNumbers::guard_of(std::size_t statement) const {
  const auto found = guards_.find(statement);
  return found == guards_.end() ? kNoRegister : found->second;
}

void RegisterNumbers::declare(const Variable& variable) {
  if (variable.space != StateSpace::kReg || scopes_.empty()) {
    return;
  }
  const std::uint32_t bytes = variable.type == ScalarType::kPred ? 1 : size_of(variable.type);
  if (variable.range != 0) {
    scopes_.back().ranges.push_back(
        {.prefix = variable.name, .count = variable.range, .bytes = bytes});
  } else {
    add(variable.name, scopes_.back(), bytes);
  }
}

void RegisterNumbers::name(const Operand& operand) {
  if (operand.kind == Operand::Kind::kRegister) {
    operands_[&operand] = find(operand.name);
  }
  std::ranges::for_each(operand.elements, [&](const Operand& each) { name(each); });
}

std::uint32_t RegisterNumbers::find(std::string_view name) {
  for (Scope& scope : scopes_ | std::views::reverse) {
    if (const auto found = scope.names.find(name); found != scope.names.end()) {
      return found->second;
    }
    for (const Range& range : scope.ranges) {
      if (!name.starts_with(range.prefix)) {
        continue;
      }
      const auto number = parse_number<std::uint32_t>(name.substr(range.prefix.size()));
      if (number && *number < range.count) {
        return add(name, scope, range.bytes);
      }
    }
  }
  return kNoRegister;
}

std::uint32_t RegisterNumbers::add(std::string_view name, Scope& scope, std::uint32_t bytes) {
  const auto number = static_cast<std::uint32_t>(bytes_.size());
  scope.names[name] = number;
  bytes_.push_back(bytes);
  return number;
}

LiveRegisters live_registers(const Module& module, const Function& function,
                             const RegisterNumbers& registers) {
  return Liveness(module, function, registers).run();
}

}  // namespace barracuda::ptx
