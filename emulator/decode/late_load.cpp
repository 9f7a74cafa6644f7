// Loads that may be late are two instructions: one issues the load, another, where it ends at the
// latest, completes it. The call that logs it moves along.
#include "emulator/decode/late_load.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "emulator/decode/function_decoder.h"
#include "emulator/decode/weak_effect.h"
#include "emulator/execute/native.h"
#include "emulator/execute/weak_memory.h"
#include "emulator/state/weak_site.h"

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
  const bool is_load =
      effect.opcode_class == OpcodeClass::kLoad && instruction.opcode == Opcode::kLd;
  const bool is_store =
      effect.opcode_class == OpcodeClass::kStore && instruction.opcode == Opcode::kSt;
  if (is_load || is_store) {
    return !is_special(instruction) && !(is_load ? acquires(effect.order) : releases(effect.order));
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

std::optional<std::size_t> FunctionDecoder::late_end(std::size_t load) {
  const Weakness* weakness = builder_.module().weakness();
  const auto is_late = [](const Decision& decision) { return decision.kind == WeakKind::kLate; };
  if (weakness == nullptr || function_.is_tool ||
      (weakness->late_loads == 0 && std::ranges::none_of(weakness->decisions, is_late))) {
    return std::nullopt;
  }
  const auto end = end_of_late_load(module_, load, source_.body_end);
  if (!end) {
    return std::nullopt;
  }
  // What it loads must need no conversion afterwards.
  const ptx::Instruction& instruction = module_.statements[load].instruction;
  const RegisterClass wanted = register_class(ptx::classify(instruction).type);
  std::vector<Operand> elements;
  if (!elements_of(instruction.operands[0], elements)) {
    elements.push_back(instruction.operands[0]);
  }
  const bool fits = std::ranges::all_of(elements, [&](const Operand& element) {
    const Symbol* symbol =
        element.kind == Operand::Kind::kRegister ? symbols_.find(element.name) : nullptr;
    return symbol != nullptr && symbol->kind == Symbol::Kind::kRegister &&
           symbol->register_class == wanted;
  });
  return fits ? end : std::nullopt;
}

// Its arguments lie in local memory, which nothing else takes until then.
bool FunctionDecoder::postpone_log(const std::shared_ptr<NativeSite>& site) {
  const auto load = logged_by(module_, statement_, source_.body_end);
  const auto end = load ? late_end(*load) : std::nullopt;
  if (!end || predicate_ != kNoSlot || !site->call.results.empty() ||
      std::ranges::any_of(site->call.arguments,
                          [](const Passed& argument) { return argument.slot != kNoSlot; })) {
    return false;
  }
  postponed_.push_back({.end = *end, .statement = statement_, .log = site.get()});
  function_.owned.push_back(site);
  if (kept_top_ == 0) {
    kept_base_ = blocks_[open_blocks_.back()].local_top;
  }
  kept_top_ = local_top_;
  return true;
}

void FunctionDecoder::split_load(const ptx::Instruction& instruction, WeakSite& site) {
  const auto end = late_end(statement_);
  const auto log = log_of_load(module_, statement_, source_.body_begin);
  const bool is_log_here = !log || std::ranges::any_of(postponed_, [&](const Postponed& other) {
    return other.log != nullptr && other.statement == *log;
  });
  if (!end || !is_log_here) {
    return;
  }
  Postponed load{.end = *end, .statement = statement_, .load = function_.code.back()};
  std::vector<Operand> elements;
  if (!elements_of(instruction.operands[0], elements)) {
    elements.push_back(instruction.operands[0]);
  }
  for (const Operand& element : elements) {
    RegisterClass its_class{};
    load.registers.push_back(register_number(element, its_class));
  }
  site.may_be_late = true;
  postponed_.push_back(std::move(load));
}

void FunctionDecoder::complete_loads(std::size_t statement) {
  bool logs = false;
  for (const Postponed& postponed : postponed_) {
    if (postponed.end != statement) {
      logs = logs || postponed.log != nullptr;
      continue;
    }
    statement_ = postponed.statement;
    predicate_ = kNoSlot;
    next_step();
    if (postponed.log != nullptr) {
      emit(&execute_native).extra = postponed.log;
      continue;
    }
    // Lanes whose load took place when it was issued keep what they have.
    for (const std::uint32_t number : postponed.registers) {
      uses_.read(number);
      uses_.write(number, false);
    }
    Instruction& completes = emit(&execute_late_load);
    completes.d = postponed.load.d;
    completes.extra = postponed.load.extra;
    completes.count = postponed.load.count;
    completes.flags = postponed.load.flags;
    completes.weak = postponed.load.weak;
  }
  std::erase_if(postponed_, [&](const Postponed& each) { return each.end == statement; });
  if (!logs && kept_top_ != 0) {
    free_kept();
  }
}

void FunctionDecoder::free_kept() {
  for (const std::uint32_t block : open_blocks_) {
    std::uint32_t& top = blocks_[block].local_top;
    top = top == kept_top_ ? kept_base_ : top;
  }
  local_top_ = local_top_ == kept_top_ ? kept_base_ : local_top_;
  kept_top_ = 0;
}

}  // namespace barracuda::emulator
