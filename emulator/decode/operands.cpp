// Operands of instructions to slots.
#include <cstring>

#include <fmt/format.h>

#include "base/align.h"
#include "base/assert.h"
#include "emulator/decode/function_decoder.h"

namespace barracuda::emulator {

using ptx::ScalarType;

namespace {

bool is_signed(ScalarType type) {
  return type == ScalarType::kS8 || type == ScalarType::kS16 || type == ScalarType::kS32 ||
         type == ScalarType::kS64;
}

constexpr std::uint32_t kSlotAlignment = 64;

}  // namespace

Instruction& FunctionDecoder::emit(Handler handler) {
  ASSERT(handler != nullptr);
  Instruction& instruction = function_.code.emplace_back();
  instruction.handler = handler;
  instruction.statement = statement_;
  instruction.predicate = predicate_;
  instruction.predicate_negated = predicate_negated_;
  return instruction;
}

void FunctionDecoder::unsupported(std::string reason) {
  function_.reasons.push_back(std::make_unique<std::string>(
      fmt::format("an instruction that the emulator cannot execute ({}) was reached", reason)));
  emit(&execute_unsupported).extra = function_.reasons.back().get();
}

Slot FunctionDecoder::refuse(std::string reason) {
  refusal_ = std::move(reason);
  return kNoSlot;
}

Slot FunctionDecoder::slot_of(std::uint32_t number) const {
  ASSERT(layout_ == nullptr || number < layout_->slots.size());
  return layout_ == nullptr ? number : layout_->slots[number];
}

// For this step.
Slot FunctionDecoder::temporary(RegisterClass register_class) {
  const std::uint32_t number = uses_.add(register_class);
  uses_.write(number, true);
  return slot_of(number);
}

Slot FunctionDecoder::carry() {
  if (carry_ == kNoRegister) {
    carry_ = uses_.add(RegisterClass::kPredicate);
  }
  uses_.read(carry_);
  uses_.write(carry_, predicate_ == kNoSlot);
  return slot_of(carry_);
}

Slot FunctionDecoder::constant(std::uint64_t bits, RegisterClass register_class,
                               bool shared_by_value) {
  const bool wide = register_class == RegisterClass::kDoubleWord;
  const bool predicate = register_class == RegisterClass::kPredicate;
  bits = wide ? bits : predicate ? (bits != 0 ? kFullMask : 0) : bits & 0xffffffffU;
  auto& known = constant_slots_[static_cast<std::size_t>(register_class)];
  if (shared_by_value) {
    if (const auto found = known.find(bits); found != known.end()) {
      return found->second;
    }
  }
  const std::size_t offset = constants_.size();
  const std::size_t lane_bytes = wide ? 8 : 4, lanes = predicate ? 1 : kLanes;
  constants_.resize(offset + align_up(lane_bytes * lanes, kSlotAlignment));
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::memcpy(constants_.data() + offset + lane * lane_bytes, &bits, lane_bytes);
  }
  ASSERT(offset < kConstantSlot && offset % kSlotAlignment == 0);
  const Slot slot = static_cast<Slot>(offset) | kConstantSlot;
  if (shared_by_value) {
    known.emplace(bits, slot);
  }
  return slot;
}

std::uint32_t FunctionDecoder::register_number(const Operand& operand, RegisterClass& its_class) {
  Symbol* symbol = symbols_.find(operand.name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::kRegister) {
    refuse(fmt::format("register {} is not declared", operand.name));
    return kNoRegister;
  }
  its_class = symbol->register_class;
  if (symbol->number == kNoRegister) {
    symbol->number = uses_.add(its_class);
    for (int i = 1; i < symbol->vector; ++i) {
      uses_.add(its_class);
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

Slot FunctionDecoder::read_register(const Operand& operand, RegisterClass& its_class) {
  const std::uint32_t number = register_number(operand, its_class);
  if (number == kNoRegister) {
    return kNoSlot;
  }
  uses_.read(number);
  return slot_of(number);
}

Slot FunctionDecoder::write_register(const Operand& operand, RegisterClass& its_class) {
  const std::uint32_t number = register_number(operand, its_class);
  if (number == kNoRegister) {
    return kNoSlot;
  }
  uses_.write(number, predicate_ == kNoSlot);
  return slot_of(number);
}

Slot FunctionDecoder::emit_to_temporary(Handler handler, RegisterClass register_class, Slot a,
                                        std::int64_t immediate) {
  const Slot d = temporary(register_class);
  Instruction& instruction = emit(handler);
  instruction.d = d;
  instruction.a = a;
  instruction.immediate = immediate;
  return d;
}

Slot FunctionDecoder::adapted(Slot slot, RegisterClass from, ScalarType type) {
  const RegisterClass wanted = register_class(type);
  if (slot == kNoSlot || from == wanted) {
    return slot;
  }
  if (from == RegisterClass::kDoubleWord && wanted == RegisterClass::kWord) {
    return emit_to_temporary(&execute_narrow, wanted, slot, 0);
  }
  if (from == RegisterClass::kWord && wanted == RegisterClass::kDoubleWord) {
    return emit_to_temporary(is_signed(type) ? &execute_widen_signed : &execute_widen, wanted, slot,
                             0);
  }
  return refuse("an operand's register has another size than the instruction's type");
}

Slot FunctionDecoder::shared_address(const ptx::Variable& variable, std::int64_t offset) {
  if (variable.size() != 0 || !variable.is_extern) {
    return constant(builder_.shared_offset(variable) + static_cast<std::uint64_t>(offset),
                    RegisterClass::kDoubleWord);
  }
  // Dynamic shared memory lies behind everything else: its offset is added when that is known.
  const Slot slot = constant(static_cast<std::uint64_t>(offset), RegisterClass::kDoubleWord, false);
  dynamic_constants_.emplace_back(slot & ~kConstantSlot, 8);
  return slot;
}

// The address within its space, as 64 bits; a function's parameter lies in local memory and has a
// generic address.
Slot FunctionDecoder::declared_address(const Symbol& symbol, std::int64_t offset) {
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

Slot FunctionDecoder::symbol_source(const Operand& operand, ScalarType type) {
  Slot address = kNoSlot;
  if (const Symbol* symbol = symbols_.find(operand.name); symbol != nullptr) {
    address = declared_address(*symbol, operand.offset);
  } else if (const GlobalVariable* variable = builder_.module().variable(operand.name)) {
    return constant(variable->address + static_cast<std::uint64_t>(operand.offset),
                    register_class(type));
  } else if (const ptx::Variable* shared = builder_.module().shared_variable(operand.name)) {
    address = shared_address(*shared, operand.offset);
  } else if (const ptx::Function* code = builder_.module().function(operand.name)) {
    return constant(builder_.module().address_of(*code), register_class(type));
  } else {
    return refuse(fmt::format("{} is not defined", operand.name));
  }
  return adapted(address, RegisterClass::kDoubleWord, type);
}

Slot FunctionDecoder::source(const Operand& operand, ScalarType type) {
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
      return constant(immediate_bits(operand, type), register_class(type));
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

Slot FunctionDecoder::destination(const Operand& operand, ScalarType type) {
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
  Settlement settlement{.from = temporary(written), .to = slot};
  if (written == RegisterClass::kWord && its_class == RegisterClass::kDoubleWord) {
    settlement.handler = is_signed(type) ? &execute_widen_signed : &execute_widen;
  } else if (written == RegisterClass::kDoubleWord && its_class == RegisterClass::kWord) {
    settlement.handler = &execute_narrow;
  } else {
    return refuse("the destination's register has another size than the instruction's type");
  }
  settlements_.push_back(settlement);
  return settlement.from;
}

void FunctionDecoder::settle() {
  for (const Settlement& settlement : settlements_) {
    Instruction& instruction = emit(settlement.handler);
    instruction.a = settlement.from;
    instruction.d = settlement.to;
  }
  settlements_.clear();
}

// {a, b}, or a register that was declared as a vector.
bool FunctionDecoder::elements_of(const Operand& operand, std::vector<Operand>& elements) {
  if (operand.kind == Operand::Kind::kVector) {
    elements = operand.elements;
    return true;
  }
  const Symbol* symbol =
      operand.kind == Operand::Kind::kRegister ? symbols_.find(operand.name) : nullptr;
  if (symbol == nullptr || symbol->vector == 1 || !operand.component.empty()) {
    return false;
  }
  constexpr std::string_view kComponents = "xyzw";
  for (std::size_t i = 0; i < symbol->vector; ++i) {
    elements.push_back(operand);
    elements.back().component = kComponents.substr(i, 1);
  }
  return true;
}

}  // namespace barracuda::emulator
