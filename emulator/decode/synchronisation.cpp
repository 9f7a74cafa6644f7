// Barriers and warp collectives.
#include "emulator/decode/decoders.h"
#include "emulator/execute/control.h"

namespace barracuda::emulator {

using ptx::ScalarType;

// bar.{sync,arrive,red…} and barrier.… with optional .cta and .aligned; bar.warp.sync.
void decode_barrier(CodeEmitter& code, const ptx::Instruction& instruction) {
  const Form form = read_form(instruction);
  const auto& operands = instruction.operands;
  if (form.has(Modifier::kWarp)) {
    decode_collective(code, instruction);
    return;
  }
  if (form.has(Modifier::kCluster)) {
    code.emit(form.has(Modifier::kArrive) ? &execute_cluster_arrive : &execute_cluster_wait);
    return;
  }
  const bool reduces = form.has(Modifier::kRed);
  const std::size_t first = reduces ? 1 : 0, last = operands.size() - (reduces ? 1 : 0);
  if (operands.empty() || last <= first || last - first > 2) {
    code.refuse("operands");
    return;
  }
  const Slot a = code.source(operands[first], ScalarType::kU32);
  const Slot b = last - first == 2 ? code.source(operands[first + 1], ScalarType::kU32) : kNoSlot;
  BarrierResult result = BarrierResult::kNone;
  Slot c = kNoSlot, d = kNoSlot;
  if (reduces) {
    result = form.has(Modifier::kPopc)  ? BarrierResult::kPopulation
             : form.has(Modifier::kAnd) ? BarrierResult::kAll
                                        : BarrierResult::kAny;
    c = code.source(operands.back(), ScalarType::kPred);
    d = code.destination(
        operands[0], result == BarrierResult::kPopulation ? ScalarType::kU32 : ScalarType::kPred);
  }
  Instruction& emitted =
      code.emit(form.has(Modifier::kArrive) ? &execute_barrier_arrive : &execute_barrier);
  emitted.a = a;
  emitted.b = b;
  emitted.c = c;
  emitted.d = d;
  emitted.flags = static_cast<std::uint8_t>(result);
}

namespace {

ScalarType operand_type(OperandClass operand_class) {
  return operand_class == OperandClass::kPredicate    ? ScalarType::kPred
         : operand_class == OperandClass::kDoubleWord ? ScalarType::kB64
                                                      : ScalarType::kB32;
}

}  // namespace

// d[|e], sources …, member mask
void decode_collective(CodeEmitter& code, const ptx::Instruction& instruction) {
  const Form form = read_form(instruction);
  const Collective collective = select_collective(form);
  const auto& operands = instruction.operands;
  if (collective.handler == nullptr || operands.empty() || (!form.has(Modifier::kSync))) {
    code.refuse("this warp collective");
    return;
  }
  const CollectiveShape& shape = *collective.shape;
  const bool has_result = shape.d != OperandClass::kNone;
  Instruction pattern;
  std::size_t next = has_result ? 1 : 0;
  const OperandClass kinds[] = {shape.a, shape.b, shape.c};
  Slot* const slots[] = {&pattern.a, &pattern.b, &pattern.c};
  for (std::size_t i = 0; i < 3 && kinds[i] != OperandClass::kNone; ++i, ++next) {
    if (next + 1 >= operands.size()) {
      code.refuse("operands");
      return;
    }
    *slots[i] = code.source(operands[next], operand_type(kinds[i]));
  }
  if (next + 1 != operands.size()) {
    code.refuse("operands");
    return;
  }
  pattern.immediate = code.source(operands[next], ScalarType::kB32);
  if (has_result) {
    const bool pair = operands[0].kind == ptx::Operand::Kind::kPair;
    pattern.d =
        code.destination(pair ? operands[0].elements[0] : operands[0], operand_type(shape.d));
    pattern.e = pair ? code.destination(operands[0].elements[1], operand_type(shape.e)) : kNoSlot;
  }
  pattern.handler = collective.handler;
  pattern.extra = &shape;
  code.emit(pattern);
}

void decode_active_mask(CodeEmitter& code, const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 1) {
    code.refuse("this form is not known");
    return;
  }
  const Slot d = code.destination(instruction.operands[0], ScalarType::kB32);
  code.emit(&execute_active_mask).d = d;
}

}  // namespace barracuda::emulator
