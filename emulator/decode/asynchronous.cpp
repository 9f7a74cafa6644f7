// mbarrier and the copies that are made later.
#include "emulator/execute/asynchronous.h"

#include "emulator/decode/addresses.h"
#include "emulator/decode/decoders.h"
#include "emulator/execute/control.h"
#include "ptx/opcode.h"

namespace barracuda::emulator {

using ptx::ScalarType;
using ptx::StateSpace;
using wire::Operation;

namespace {

// cp.async.{ca,cg}.shared.global [to], [from], size [, bytes that are read | a predicate]
void decode_plain_copy(CodeEmitter& code, const ptx::Instruction& instruction,
                       const ptx::Effect& effect) {
  const auto& operands = instruction.operands;
  auto copy = std::make_shared<CopyOperands>();
  copy->size = static_cast<std::uint32_t>(operands[2].bits);
  if (!bind_place(code, operands[0], StateSpace::kShared, copy->to) ||
      !bind_place(code, operands[1], StateSpace::kGlobal, copy->from)) {
    return;
  }
  if (effect.bytes_operand >= 0) {
    const ptx::Operand& read = operands[static_cast<std::size_t>(effect.bytes_operand)];
    RegisterClass its_class = RegisterClass::kWord;
    if (read.kind == ptx::Operand::Kind::kRegister) {
      code.register_number(read, its_class);
    }
    if (its_class == RegisterClass::kPredicate) {
      code.refuse("a predicate that ignores the source");
      return;
    }
    copy->bytes = code.source(read, ScalarType::kU32);
  }
  code.emit(&execute_copy, std::move(copy));
}

// cp.async.bulk.TO.FROM and cp.reduce.async.bulk.TO.FROM:
// [to], [from], bytes [, [mbarrier]] [, CTA mask] [, cache policy] [, byte mask]
void decode_bulk_copy(CodeEmitter& code, const ptx::Instruction& instruction,
                      const ptx::Effect& effect) {
  const auto& operands = instruction.operands;
  const bool signals = effect.mbarrier_operand >= 0;
  auto copy = std::make_shared<CopyOperands>();
  if (instruction.has(Modifier::kReduce)) {
    copy->reduction = select_reduction(read_form(instruction), effect.type);
    copy->element_bytes = ptx::size_of(effect.type);
    if (copy->reduction == nullptr) {
      code.refuse("its reduction");
      return;
    }
  }
  if (!bind_place(code, operands[0], effect.space, copy->to) ||
      !bind_place(code, operands[1], effect.source_space, copy->from) ||
      (signals && !bind_place(code, operands[3], StateSpace::kShared, copy->mbarrier))) {
    return;
  }
  copy->bytes = code.source(operands[2], ScalarType::kU32);
  if (effect.mask_operand >= 0) {
    (signals ? copy->ctas : copy->byte_mask) =
        code.source(operands[static_cast<std::size_t>(effect.mask_operand)], ScalarType::kU16);
  }
  code.emit(signals ? &execute_bulk_signalled : &execute_bulk_grouped, std::move(copy));
}

}  // namespace

// mbarrier.op [d,] [address] [, operands …]
void decode_mbarrier(CodeEmitter& code, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (instruction.has(Modifier::kPendingCount) && operands.size() == 2) {
    const Slot a = code.source(operands[1], ScalarType::kB64);
    const Slot d = code.destination(operands[0], ScalarType::kU32);
    Instruction& emitted = code.emit(&execute_pending_count);
    emitted.a = a;
    emitted.d = d;
    return;
  }
  const ptx::Effect effect = ptx::classify(instruction);
  const auto at = static_cast<std::size_t>(effect.address_operand);
  Instruction pattern;
  if (!effect.operation || at > 1 || !bind_place(code, operands[at], effect.space, pattern)) {
    code.refuse_by_default("this mbarrier operation");
    return;
  }
  const bool waits = *effect.operation == Operation::kMbarrierWait;
  if (effect.bytes_operand >= 0) {
    pattern.c =
        code.source(operands[static_cast<std::size_t>(effect.bytes_operand)], ScalarType::kU32);
  } else if (effect.amount_operand >= 0) {
    pattern.b =
        code.source(operands[static_cast<std::size_t>(effect.amount_operand)], ScalarType::kU32);
  } else if (waits) {
    pattern.b = code.source(operands[at + 1], ScalarType::kB64);
  }
  if (at == 1) {
    pattern.d = code.destination(operands[0], waits ? ScalarType::kPred : ScalarType::kB64);
  }
  pattern.handler = select_mbarrier(read_form(instruction));
  code.emit(pattern);
}

void decode_async_copy(CodeEmitter& code, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const ptx::Effect effect = ptx::classify(instruction);
  const bool is_plain = effect.asynchrony == wire::Asynchrony::kThreadGroup;
  if (effect.opcode_class == ptx::OpcodeClass::kNoEffect) {
    code.emit(&execute_nothing);
  } else if (!effect.operation) {
    code.refuse("this copy");
  } else if (*effect.operation == Operation::kAsyncCommit) {
    code.emit(is_plain ? &execute_copy_group_end : &execute_bulk_group_end);
  } else if (*effect.operation == Operation::kAsyncWait && effect.amount_operand < 0) {
    code.emit(&execute_copy_wait_all);
  } else if (*effect.operation == Operation::kAsyncWait) {
    if (operands.size() != 1 || operands[0].kind != ptx::Operand::Kind::kInteger) {
      code.refuse("operands");
      return;
    }
    code.emit(is_plain ? &execute_copy_wait : &execute_bulk_wait).immediate =
        static_cast<std::int64_t>(operands[0].bits);
  } else if (*effect.operation == Operation::kAsyncArrive) {
    Instruction place{.handler = &execute_copy_arrival};
    if (operands.size() != 1 || !bind_place(code, operands[0], effect.space, place)) {
      code.refuse_by_default("operands");
      return;
    }
    place.count = instruction.has(Modifier::kNoinc) ? 0 : 1;
    code.emit(place);
  } else if (is_plain) {
    decode_plain_copy(code, instruction, effect);
  } else if (*effect.operation == Operation::kTensorCopy) {
    decode_tensor_copy(code, instruction, effect);
  } else {
    decode_bulk_copy(code, instruction, effect);
  }
}

// st.bulk: [to], bytes, 0
void decode_bulk_zeros(CodeEmitter& code, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const ptx::Effect effect = ptx::classify(instruction);
  auto store = std::make_shared<CopyOperands>();
  if (!effect.operation || operands.size() != 3 ||
      operands[2].kind != ptx::Operand::Kind::kInteger || operands[2].bits != 0 ||
      !bind_place(code, operands[0], effect.space, store->to)) {
    code.refuse_by_default("operands");
    return;
  }
  store->bytes = code.source(operands[1], ScalarType::kU64);
  code.emit(&execute_bulk_zeros, std::move(store));
}

// st.async and red.async: [to], value, [mbarrier]
void decode_remote_store(CodeEmitter& code, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const ptx::Effect effect = ptx::classify(instruction);
  const std::uint32_t size = ptx::size_of(effect.type);
  const bool is_reduction = instruction.opcode == Opcode::kRed;
  auto store = std::make_shared<CopyOperands>();
  store->reduction = is_reduction ? select_reduction(read_form(instruction), effect.type) : nullptr;
  if (effect.not_covered || operands.size() != 3 || (size != 4 && size != 8) ||
      effect.elements * size > 16 || (is_reduction && store->reduction == nullptr)) {
    code.refuse("this asynchronous store");
    return;
  }
  const std::vector<ptx::Operand> elements = code.elements_of(operands[1]);
  if (elements.size() != effect.elements ||
      !bind_place(code, operands[0], StateSpace::kShared, store->to) ||
      !bind_place(code, operands[2], StateSpace::kShared, store->mbarrier)) {
    code.refuse_by_default("the number of registers");
    return;
  }
  store->element_bytes = size;
  for (const ptx::Operand& element : elements) {
    store->values[store->count++] = code.source(element, effect.type);
  }
  code.emit(&execute_remote_store, std::move(store));
}

}  // namespace barracuda::emulator
