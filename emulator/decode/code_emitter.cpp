#include "emulator/decode/code_emitter.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/assert.h"
#include "emulator/execute/control.h"
#include "ptx/type_family.h"

namespace barracuda::emulator {

using ptx::Operand;
using ptx::ScalarType;

void CodeEmitter::begin_step(std::uint32_t statement) {
  statement_ = statement;
  predicate_ = kNoSlot;
  refusal_.clear();
  conversions_.clear();
  registers_.uses().next_step();
  step_begins_.push_back(static_cast<std::uint32_t>(function_.code.size()));
}

void CodeEmitter::set_predicate(Slot predicate, bool is_negated) {
  predicate_ = predicate;
  predicate_negated_ = is_negated;
}

Instruction& CodeEmitter::emit(const Instruction& pattern) {
  ASSERT(pattern.handler != nullptr);
  Instruction& instruction = function_.code.emplace_back(pattern);
  instruction.statement = statement_;
  instruction.predicate = predicate_;
  instruction.predicate_negated = predicate_negated_;
  return instruction;
}

Instruction& CodeEmitter::emit(Handler handler) {
  ASSERT(handler != nullptr);
  Instruction& instruction = function_.code.emplace_back();
  instruction.handler = handler;
  instruction.statement = statement_;
  instruction.predicate = predicate_;
  instruction.predicate_negated = predicate_negated_;
  return instruction;
}

Slot CodeEmitter::refuse(std::string reason) {
  refusal_ = std::move(reason);
  return kNoSlot;
}

void CodeEmitter::refuse_by_default(std::string reason) {
  if (refusal_.empty()) {
    refusal_ = std::move(reason);
  }
}

void CodeEmitter::unsupported(const std::string& reason) {
  function_.reasons.push_back(std::make_unique<std::string>(
      fmt::format("an instruction that the emulator cannot execute ({}) was reached", reason)));
  emit(&execute_unsupported).extra = function_.reasons.back().get();
}

std::uint32_t CodeEmitter::register_number(const Operand& operand, RegisterClass& its_class) {
  Symbol* symbol = symbols_.find(operand.name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::kRegister) {
    refuse(fmt::format("register {} is not declared", operand.name));
    return kNoRegister;
  }
  its_class = symbol->register_class;
  if (symbol->number == kNoRegister) {
    symbol->number = registers_.uses().add(its_class);
    for (int i = 1; i < symbol->vector; ++i) {
      registers_.uses().add(its_class);
    }
  }
  if (symbol->vector == 1) {
    return symbol->number;
  }
  constexpr std::string_view kComponents = "xyzw", kColours = "rgba";
  std::size_t index = kComponents.find(operand.component);
  index = index == std::string_view::npos ? kColours.find(operand.component) : index;
  if (operand.component.size() != 1 || index >= symbol->vector) {
    refuse(fmt::format("{} is a vector", operand.name));
    return kNoRegister;
  }
  return symbol->number + static_cast<std::uint32_t>(index);
}

Slot CodeEmitter::read_register(const Operand& operand, RegisterClass& its_class) {
  const std::uint32_t number = register_number(operand, its_class);
  if (number == kNoRegister) {
    return kNoSlot;
  }
  registers_.uses().read(number);
  return registers_.slot_of(number);
}

Slot CodeEmitter::write_register(const Operand& operand, RegisterClass& its_class) {
  const std::uint32_t number = register_number(operand, its_class);
  if (number == kNoRegister) {
    return kNoSlot;
  }
  registers_.uses().write(number, predicate_ == kNoSlot);
  return registers_.slot_of(number);
}

void CodeEmitter::convert_results() {
  for (const Conversion& conversion : conversions_) {
    emit({.handler = conversion.handler, .d = conversion.to, .a = conversion.from});
  }
  conversions_.clear();
}

Slot CodeEmitter::emit_to_temporary(Handler handler, RegisterClass register_class, Slot a,
                                    std::int64_t immediate) {
  const Slot d = temporary(register_class);
  emit({.handler = handler, .d = d, .a = a, .immediate = immediate});
  return d;
}

Slot CodeEmitter::adapted(Slot slot, RegisterClass from, ScalarType type) {
  const RegisterClass wanted = register_class(type);
  if (slot == kNoSlot || from == wanted) {
    return slot;
  }
  if (from == RegisterClass::kDoubleWord && wanted == RegisterClass::kWord) {
    return emit_to_temporary(&execute_narrow, wanted, slot, 0);
  }
  if (from == RegisterClass::kWord && wanted == RegisterClass::kDoubleWord) {
    return emit_to_temporary(ptx::is_signed(type) ? &execute_widen_signed : &execute_widen, wanted,
                             slot, 0);
  }
  return refuse("an operand's register has another size than the instruction's type");
}

Slot CodeEmitter::shared_address(const ptx::Variable& variable, std::int64_t offset) {
  if (variable.size() != 0 || !variable.is_extern) {
    return constants_.add(builder_.shared_offset(variable) + static_cast<std::uint64_t>(offset),
                          RegisterClass::kDoubleWord);
  }
  return constants_.add_dynamic_offset(static_cast<std::uint64_t>(offset));
}

// The address within its space, as 64 bits; a function's parameter lies in local memory and has a
// generic address.
Slot CodeEmitter::declared_address(const Symbol& symbol, std::int64_t offset) {
  const std::int64_t place = symbol.offset + offset;
  switch (symbol.kind) {
    case Symbol::Kind::kShared:
      return shared_address(*symbol.variable, offset);
    case Symbol::Kind::kKernelParameter:
      return emit_to_temporary(&execute_parameter_address, RegisterClass::kDoubleWord, kNoSlot,
                               place);
    case Symbol::Kind::kLocal: {
      const Slot local =
          emit_to_temporary(&execute_local_address, RegisterClass::kDoubleWord, kNoSlot, place);
      if (!symbol.is_parameter) {
        return local;
      }
      const Slot generic =
          emit_to_temporary(&execute_to_generic, RegisterClass::kDoubleWord, local, 0);
      function_.code.back().flags = static_cast<std::uint8_t>(AddressWindow::kLocal);
      return generic;
    }
    case Symbol::Kind::kRegister:
      break;
  }
  return refuse("a register has no address");
}

Slot CodeEmitter::symbol_source(const Operand& operand, ScalarType type) {
  Slot address = kNoSlot;
  if (const Symbol* symbol = symbols_.find(operand.name); symbol != nullptr) {
    address = declared_address(*symbol, operand.offset);
  } else if (const GlobalVariable* variable = builder_.module().variable(operand.name)) {
    return constants_.add(variable->address + static_cast<std::uint64_t>(operand.offset),
                          register_class(type));
  } else if (const ptx::Variable* shared = builder_.module().shared_variable(operand.name)) {
    address = shared_address(*shared, operand.offset);
  } else if (const ptx::Function* code = builder_.module().function(operand.name)) {
    return constants_.add(builder_.module().address_of(*code), register_class(type));
  } else {
    return refuse(fmt::format("{} is not defined", operand.name));
  }
  return adapted(address, RegisterClass::kDoubleWord, type);
}

Slot CodeEmitter::source(const Operand& operand, ScalarType type) {
  switch (operand.kind) {
    case Operand::Kind::kRegister: {
      RegisterClass its_class{};
      const Slot slot = read_register(operand, its_class);
      if (slot != kNoSlot && operand.negated) {
        return its_class == RegisterClass::kPredicate
                   ? emit_to_temporary(
                         lane_handlers()
                             .select(read_form(ptx::Instruction{.opcode = Opcode::kNot,
                                                                .modifiers = {Modifier::kPred}}))
                             .handler,
                         its_class, slot, 0)
                   : refuse("a register is negated");
      }
      return adapted(slot, its_class, type);
    }
    case Operand::Kind::kSpecial: {
      const int number = special_register(operand.name, operand.component);
      if (number < 0) {
        return refuse(fmt::format("special register {}", operand.text));
      }
      const RegisterClass its_class = register_class(special_type(number));
      return adapted(emit_to_temporary(&execute_special, its_class, kNoSlot, number), its_class,
                     type);
    }
    case Operand::Kind::kInteger:
    case Operand::Kind::kFloat:
      return constants_.add(immediate_bits(operand, type), register_class(type));
    case Operand::Kind::kSymbol:
      return symbol_source(operand, type);
    case Operand::Kind::kAddress:
    case Operand::Kind::kVector:
    case Operand::Kind::kPair:
    case Operand::Kind::kList:
    case Operand::Kind::kSink:
      break;
  }
  return refuse(fmt::format("operand {}", operand.text));
}

Slot CodeEmitter::destination(const Operand& operand, ScalarType type) {
  if (operand.kind == Operand::Kind::kSink) {
    return kNoSlot;
  }
  if (operand.kind != Operand::Kind::kRegister) {
    return refuse(fmt::format("destination {}", operand.text));
  }
  RegisterClass its_class{};
  const Slot slot = write_register(operand, its_class);
  const RegisterClass written = register_class(type);
  if (slot == kNoSlot || its_class == written) {
    return slot;
  }
  Conversion conversion{.from = temporary(written), .to = slot};
  if (written == RegisterClass::kWord && its_class == RegisterClass::kDoubleWord) {
    conversion.handler = ptx::is_signed(type) ? &execute_widen_signed : &execute_widen;
  } else if (written == RegisterClass::kDoubleWord && its_class == RegisterClass::kWord) {
    conversion.handler = &execute_narrow;
  } else {
    return refuse("the destination's register has another size than the instruction's type");
  }
  conversions_.push_back(conversion);
  return conversion.from;
}

std::vector<Operand> CodeEmitter::elements_of(const Operand& operand) {
  if (operand.kind == Operand::Kind::kVector) {
    return operand.elements;
  }
  const Symbol* symbol =
      operand.kind == Operand::Kind::kRegister ? symbols_.find(operand.name) : nullptr;
  if (symbol == nullptr || symbol->vector == 1 || !operand.component.empty()) {
    return {operand};
  }
  std::vector<Operand> elements(symbol->vector, operand);
  constexpr std::string_view kComponents = "xyzw";
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i].component = kComponents.substr(i, 1);
  }
  return elements;
}

// Only the last instruction of a step may lead elsewhere.
std::vector<StepEnd> CodeEmitter::step_ends() const {
  ASSERT(!step_begins_.empty() && step_begins_.front() == 0);
  DEBUG_ASSERT(std::ranges::is_sorted(step_begins_));
  const auto step_at = [this](std::uint64_t pc) {
    const auto after = std::ranges::upper_bound(step_begins_, pc);
    return static_cast<std::uint32_t>(after - step_begins_.begin()) - 1;
  };
  std::vector<StepEnd> ends(step_begins_.size());
  for (std::size_t step = 0; step < ends.size(); ++step) {
    const std::size_t behind =
        step + 1 < ends.size() ? step_begins_[step + 1] : function_.code.size();
    if (behind == step_begins_[step]) {
      continue;
    }
    const Instruction& last = function_.code[behind - 1];
    if (last.handler == &execute_branch) {
      ends[step].targets.push_back(step_at(static_cast<std::uint64_t>(last.immediate)));
    } else if (last.handler == &execute_indexed_branch) {
      for (const std::uint32_t pc : static_cast<const BranchTable*>(last.extra)->targets) {
        ends[step].targets.push_back(step_at(pc));
      }
    } else if (last.handler != &execute_return && last.handler != &execute_exit &&
               last.handler != &execute_trap && last.handler != &execute_unsupported) {
      continue;
    }
    ends[step].goes_on = last.predicate != kNoSlot;
  }
  return ends;
}

void CodeEmitter::finish() {
  constants_.finish(builder_, function_);
  function_.register_bytes = registers_.frame_bytes();
}

}  // namespace barracuda::emulator
