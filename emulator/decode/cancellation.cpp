// clusterlaunchcontrol: a block asks for the work of one that has not begun. Here each block
// begins, and every request fails, which the PTX ISA leaves to the device.
#include <memory>

#include "emulator/decode/addresses.h"
#include "emulator/decode/decoders.h"
#include "emulator/execute/asynchronous.h"
#include "ptx/opcode.h"

namespace barracuda::emulator {

using ptx::ScalarType;
using ptx::StateSpace;

namespace {

// try_cancel.async[.shared::cta].mbarrier::complete_tx::bytes.b128 [response], [mbarrier]
void decode_request(CodeEmitter& code, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  auto store = std::make_shared<CopyOperands>();
  if (ptx::classify(instruction).not_covered || operands.size() != 2) {
    code.refuse("this request");
    return;
  }
  if (!bind_place(code, operands[0], StateSpace::kShared, store->to) ||
      !bind_place(code, operands[1], StateSpace::kShared, store->mbarrier)) {
    return;
  }
  const ptx::Operand zero{.kind = ptx::Operand::Kind::kInteger};
  store->element_bytes = 4;
  for (; store->count < 4; ++store->count) {
    store->values[store->count] = code.source(zero, ScalarType::kB32);
  }
  code.emit(&execute_remote_store, std::move(store));
}

void decode_block(CodeEmitter& code, const ptx::Instruction& instruction, Slot response) {
  const bool all = instruction.has(Modifier::kGetFirstCtaid);
  const std::vector<ptx::Operand> places = code.elements_of(instruction.operands[0]);
  if (places.size() != (all ? 4U : 1U)) {
    code.refuse("the number of registers");
    return;
  }
  const int first = instruction.has(Modifier::kGetFirstCtaidY)   ? 1
                    : instruction.has(Modifier::kGetFirstCtaidZ) ? 2
                                                                 : 0;
  // The fourth of all is not looked at.
  for (int i = 0; i < (all ? 3 : 1); ++i) {
    const Slot d = code.destination(places[static_cast<std::size_t>(i)], ScalarType::kB32);
    if (d != kNoSlot) {
      Instruction& emitted = code.emit(&execute_first_block);
      emitted.a = response;
      emitted.d = d;
      emitted.immediate = first + i;
    }
  }
}

}  // namespace

// query_cancel.is_canceled.pred.b128 p, response; query_cancel.get_first_ctaid[::x].b32.b128 …
void decode_cancellation(CodeEmitter& code, const ptx::Instruction& instruction) {
  if (!instruction.has(Modifier::kQueryCancel)) {
    decode_request(code, instruction);
    return;
  }
  if (instruction.operands.size() != 2) {
    code.refuse("operands");
    return;
  }
  const Slot response = code.source(instruction.operands[1], ScalarType::kB128);
  if (instruction.has(Modifier::kIsCanceled)) {
    const Slot d = code.destination(instruction.operands[0], ScalarType::kPred);
    Instruction& emitted = code.emit(&execute_is_canceled);
    emitted.a = response;
    emitted.d = d;
  } else {
    decode_block(code, instruction, response);
  }
}

}  // namespace barracuda::emulator
