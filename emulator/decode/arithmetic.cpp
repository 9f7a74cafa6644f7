// mov, and everything that is a handler with typed operands.

#include "emulator/decode/decoders.h"
#include "emulator/execute/control.h"

namespace barracuda::emulator {

using ptx::ScalarType;

namespace {

void bind_arithmetic(CodeEmitter& code, const ptx::Instruction& instruction,
                     const Selection& selection) {
  const auto& operands = instruction.operands;
  const auto count = static_cast<std::size_t>(selection.source_count);
  if (operands.size() != count + 1) {
    code.refuse("the number of operands");
    return;
  }
  Slot slots[4] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  for (std::size_t i = 0; i < count; ++i) {
    slots[i] = code.source(operands[i + 1], selection.sources[i]);
  }
  Slot d = kNoSlot, second = kNoSlot;
  if (selection.second_result && operands[0].kind == ptx::Operand::Kind::kPair) {
    d = code.destination(operands[0].elements[0], selection.d);
    second = code.destination(operands[0].elements[1], ScalarType::kPred);
  } else {
    d = code.destination(operands[0], selection.d);
    if (d == kNoSlot && code.refusal().empty() && !selection.second_result) {
      d = code.temporary(register_class(selection.d));
    }
  }
  Instruction& emitted = code.emit(selection.handler);
  emitted.d = d;
  emitted.a = slots[0];
  emitted.b = slots[1];
  emitted.c = slots[2];
  emitted.e = selection.uses_carry      ? code.registers().carry(!code.is_predicated())
              : selection.second_result ? second
                                        : slots[3];
  emitted.flags = selection.flags;
}

// mov.b64 d, {a, b} and mov.b64 {a, b}, s.
void decode_vector_move(CodeEmitter& code, const ptx::Instruction& instruction, const Form& form) {
  const auto& operands = instruction.operands;
  const bool packs = operands[1].kind == ptx::Operand::Kind::kVector;
  const auto& parts = operands[packs ? 1 : 0].elements;
  const std::uint32_t bits = 8 * ptx::size_of(form.type());
  const auto count = static_cast<std::uint32_t>(parts.size());
  const std::uint32_t part_bits = count == 0 ? 0 : bits / count;
  if (part_bits != 8 && part_bits != 16 && part_bits != 32 && part_bits != 64) {
    code.refuse("the number of elements");
    return;
  }
  const ScalarType part_type = part_bits == 64   ? ScalarType::kB64
                               : part_bits == 32 ? ScalarType::kB32
                               : part_bits == 16 ? ScalarType::kB16
                                                 : ScalarType::kB8;
  VectorSlots* vector = code.function().vectors.emplace_back(std::make_unique<VectorSlots>()).get();
  for (std::size_t i = 0; i < count; ++i) {
    vector->slots[i] =
        packs ? code.source(parts[i], part_type) : code.destination(parts[i], part_type);
  }
  const Slot whole =
      packs ? code.destination(operands[0], form.type()) : code.source(operands[1], form.type());
  Instruction& emitted = code.emit(packs ? &execute_pack : &execute_unpack);
  (packs ? emitted.d : emitted.a) = whole;
  emitted.extra = vector;
  emitted.count = static_cast<std::uint8_t>(count);
  emitted.flags = static_cast<std::uint8_t>(part_bits);
}

}  // namespace

void decode_arithmetic(CodeEmitter& code, const ptx::Instruction& instruction) {
  const Form form = read_form(instruction);
  const Selection selection = lane_handlers().select(form);
  if (selection.handler == nullptr) {
    code.refuse("this form is not known");
    return;
  }
  bind_arithmetic(code, instruction, selection);
}

void decode_move(CodeEmitter& code, const ptx::Instruction& instruction) {
  const Form form = read_form(instruction);
  const auto& operands = instruction.operands;
  if (operands.size() != 2) {
    code.refuse("the number of operands");
    return;
  }
  if (operands[0].kind == ptx::Operand::Kind::kVector ||
      operands[1].kind == ptx::Operand::Kind::kVector) {
    decode_vector_move(code, instruction, form);
    return;
  }
  if (form.type() != ScalarType::kB128) {
    const bool special = operands[1].kind == ptx::Operand::Kind::kSpecial;
    const int number = special ? special_register(operands[1].name, operands[1].component) : -1;
    if (number >= 0 && register_class(special_type(number)) == register_class(form.type())) {
      const Slot d = code.destination(operands[0], form.type());
      Instruction& emitted = code.emit(&execute_special);
      emitted.d = d;
      emitted.immediate = number;
      return;
    }
    decode_arithmetic(code, instruction);
    return;
  }
  const Slot a = code.source(operands[1], form.type()),
             d = code.destination(operands[0], form.type());
  const ptx::Instruction half{.opcode = Opcode::kMov, .modifiers = {Modifier::kB64}};
  const Handler handler = lane_handlers().select(read_form(half)).handler;
  for (Slot offset = 0; offset < 2 * register_bytes(RegisterClass::kDoubleWord);
       offset += register_bytes(RegisterClass::kDoubleWord)) {
    Instruction& emitted = code.emit(handler);
    emitted.a = a + offset;
    emitted.d = d + offset;
  }
}

}  // namespace barracuda::emulator
