#include "emulator/decode/postponed_loads.h"

#include <algorithm>

#include "emulator/decode/late_load.h"
#include "emulator/decode/weak_effect.h"
#include "emulator/execute/weak_memory.h"
#include "ptx/opcode.h"

namespace barracuda::emulator {

std::optional<std::size_t> PostponedLoads::late_end(std::size_t load) {
  const Weakness* weakness = code_.builder().module().weakness();
  const auto is_late = [](const Decision& decision) { return decision.kind == WeakKind::kLate; };
  if (weakness == nullptr || code_.function().is_tool ||
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
  const std::vector<ptx::Operand> elements = code_.elements_of(instruction.operands[0]);
  const bool fits = std::ranges::all_of(elements, [&](const ptx::Operand& element) {
    const Symbol* symbol = element.kind == ptx::Operand::Kind::kRegister
                               ? code_.symbols().find(element.name)
                               : nullptr;
    return symbol != nullptr && symbol->kind == Symbol::Kind::kRegister &&
           symbol->register_class == wanted;
  });
  return fits ? end : std::nullopt;
}

// Its arguments lie in local memory, which nothing else takes until then.
bool PostponedLoads::postpone_log(const std::shared_ptr<NativeSite>& site) {
  const auto load = logged_by(module_, code_.statement(), source_.body_end);
  const auto end = load ? late_end(*load) : std::nullopt;
  if (!end || code_.is_predicated() || !site->call.results.empty() ||
      std::ranges::any_of(site->call.arguments,
                          [](const Passed& argument) { return argument.slot != kNoSlot; })) {
    return false;
  }
  postponed_.push_back({.end = *end, .statement = code_.statement(), .log = site.get()});
  code_.function().owned.push_back(site);
  blocks_.keep_locals();
  return true;
}

void PostponedLoads::split(const ptx::Instruction& instruction, WeakSite& site) {
  const auto end = late_end(code_.statement());
  const auto log = log_of_load(module_, code_.statement(), source_.body_begin);
  const bool is_log_here = !log || std::ranges::any_of(postponed_, [&](const Postponed& other) {
    return other.log != nullptr && other.statement == *log;
  });
  if (!end || !is_log_here) {
    return;
  }
  Postponed load{.end = *end, .statement = code_.statement(), .load = code_.function().code.back()};
  const std::vector<ptx::Operand> elements = code_.elements_of(instruction.operands[0]);
  for (const ptx::Operand& element : elements) {
    RegisterClass its_class{};
    load.registers.push_back(code_.register_number(element, its_class));
  }
  site.may_be_late = true;
  postponed_.push_back(std::move(load));
}

void PostponedLoads::complete_all_before(std::size_t statement) {
  bool logs = false;
  for (const Postponed& postponed : postponed_) {
    if (postponed.end != statement) {
      logs = logs || postponed.log != nullptr;
      continue;
    }
    code_.begin_step(postponed.statement);
    if (postponed.log != nullptr) {
      code_.emit(&execute_native).extra = postponed.log;
      continue;
    }
    // Lanes whose load took place when it was issued keep what they have.
    for (const std::uint32_t number : postponed.registers) {
      code_.registers().uses().read(number);
      code_.registers().uses().write(number, false);
    }
    Instruction& completes = code_.emit(&execute_late_load);
    completes.d = postponed.load.d;
    completes.extra = postponed.load.extra;
    completes.count = postponed.load.count;
    completes.flags = postponed.load.flags;
    completes.weak = postponed.load.weak;
  }
  std::erase_if(postponed_, [&](const Postponed& each) { return each.end == statement; });
  if (!logs) {
    blocks_.free_kept();
  }
}

}  // namespace barracuda::emulator
