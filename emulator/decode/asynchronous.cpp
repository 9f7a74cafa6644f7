// mbarrier and the copies that are made later.
#include "emulator/execute/asynchronous.h"

#include <array>

#include "emulator/decode/function_decoder.h"
#include "ptx/opcode.h"

namespace barracuda::emulator {

using ptx::ScalarType;
using ptx::StateSpace;
using wire::Operation;

// An address as an instruction of its own, for what has several.
bool FunctionDecoder::bind_place(const Operand& operand, StateSpace space, Instruction& place) {
  Address address;
  if (!bind_address(operand, space, address)) {
    return false;
  }
  if (address.place == Place::kFrame || address.place == Place::kParameter ||
      address.place == Place::kLocal) {
    refuse("an address that is neither global nor shared");
    return false;
  }
  place.a = address.slot;
  place.immediate = address.offset;
  place.flags = static_cast<std::uint8_t>(address.place);
  place.statement = statement_;
  return true;
}

// mbarrier.op [d,] [address] [, operands …]
void FunctionDecoder::decode_mbarrier(const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (instruction.has(Modifier::kPendingCount) && operands.size() == 2) {
    const Slot a = source(operands[1], ScalarType::kB64);
    const Slot d = destination(operands[0], ScalarType::kU32);
    Instruction& emitted = emit(&execute_pending_count);
    emitted.a = a;
    emitted.d = d;
    return;
  }
  const ptx::Effect effect = ptx::classify(instruction);
  const auto at = static_cast<std::size_t>(effect.address_operand);
  Instruction pattern;
  if (!effect.operation || at > 1 || !bind_place(operands[at], effect.space, pattern)) {
    refuse(refusal_.empty() ? "this mbarrier operation" : refusal_);
    return;
  }
  const bool waits = *effect.operation == Operation::kMbarrierWait;
  if (effect.bytes_operand >= 0) {
    pattern.c = source(operands[static_cast<std::size_t>(effect.bytes_operand)], ScalarType::kU32);
  } else if (effect.amount_operand >= 0) {
    pattern.b = source(operands[static_cast<std::size_t>(effect.amount_operand)], ScalarType::kU32);
  } else if (waits) {
    pattern.b = source(operands[at + 1], ScalarType::kB64);
  }
  if (at == 1) {
    pattern.d = destination(operands[0], waits ? ScalarType::kPred : ScalarType::kB64);
  }
  Instruction& emitted = emit(select_mbarrier(read_form(instruction)));
  emitted.a = pattern.a;
  emitted.b = pattern.b;
  emitted.c = pattern.c;
  emitted.d = pattern.d;
  emitted.immediate = pattern.immediate;
  emitted.flags = pattern.flags;
}

// cp.async.{ca,cg}.shared.global [to], [from], size [, bytes that are read | a predicate]
void FunctionDecoder::decode_plain_copy(const ptx::Instruction& instruction,
                                        const ptx::Effect& effect) {
  const auto& operands = instruction.operands;
  auto copy = std::make_shared<CopyOperands>();
  copy->size = static_cast<std::uint32_t>(operands[2].bits);
  if (!bind_place(operands[0], StateSpace::kShared, copy->to) ||
      !bind_place(operands[1], StateSpace::kGlobal, copy->from)) {
    return;
  }
  if (effect.bytes_operand >= 0) {
    const Operand& read = operands[static_cast<std::size_t>(effect.bytes_operand)];
    RegisterClass its_class = RegisterClass::kWord;
    if (read.kind == Operand::Kind::kRegister) {
      register_number(read, its_class);
    }
    if (its_class == RegisterClass::kPredicate) {
      refuse("a predicate that ignores the source");
      return;
    }
    copy->bytes = source(read, ScalarType::kU32);
  }
  emit(&execute_copy).extra = copy.get();
  function_.owned.push_back(std::move(copy));
}

// cp.async.bulk.TO.FROM and cp.reduce.async.bulk.TO.FROM:
// [to], [from], bytes [, [mbarrier]] [, CTA mask] [, cache policy] [, byte mask]
void FunctionDecoder::decode_bulk_copy(const ptx::Instruction& instruction,
                                       const ptx::Effect& effect) {
  const auto& operands = instruction.operands;
  const bool signals = effect.mbarrier_operand >= 0;
  auto copy = std::make_shared<CopyOperands>();
  if (instruction.has(Modifier::kReduce)) {
    copy->reduction = select_reduction(read_form(instruction), effect.type);
    copy->element_bytes = ptx::size_of(effect.type);
    if (copy->reduction == nullptr) {
      refuse("its reduction");
      return;
    }
  }
  if (!bind_place(operands[0], effect.space, copy->to) ||
      !bind_place(operands[1], effect.source_space, copy->from) ||
      (signals && !bind_place(operands[3], StateSpace::kShared, copy->mbarrier))) {
    return;
  }
  copy->bytes = source(operands[2], ScalarType::kU32);
  if (effect.mask_operand >= 0) {
    (signals ? copy->ctas : copy->byte_mask) =
        source(operands[static_cast<std::size_t>(effect.mask_operand)], ScalarType::kU16);
  }
  emit(signals ? &execute_bulk_signalled : &execute_bulk_grouped).extra = copy.get();
  function_.owned.push_back(std::move(copy));
}

void FunctionDecoder::decode_async_copy(const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const ptx::Effect effect = ptx::classify(instruction);
  const bool is_plain = effect.asynchrony == wire::Asynchrony::kThreadGroup;
  if (effect.opcode_class == ptx::OpcodeClass::kNoEffect) {
    emit(&execute_nothing);
  } else if (!effect.operation) {
    refuse("this copy");
  } else if (*effect.operation == Operation::kAsyncCommit) {
    emit(is_plain ? &execute_copy_group_end : &execute_bulk_group_end);
  } else if (*effect.operation == Operation::kAsyncWait && effect.amount_operand < 0) {
    emit(&execute_copy_wait_all);
  } else if (*effect.operation == Operation::kAsyncWait) {
    if (operands.size() != 1 || operands[0].kind != Operand::Kind::kInteger) {
      refuse("operands");
      return;
    }
    emit(is_plain ? &execute_copy_wait : &execute_bulk_wait).immediate =
        static_cast<std::int64_t>(operands[0].bits);
  } else if (*effect.operation == Operation::kAsyncArrive) {
    Instruction place;
    if (operands.size() != 1 || !bind_place(operands[0], effect.space, place)) {
      refuse(refusal_.empty() ? "operands" : refusal_);
      return;
    }
    Instruction& emitted = emit(&execute_copy_arrival);
    emitted.a = place.a;
    emitted.immediate = place.immediate;
    emitted.flags = place.flags;
    emitted.count = instruction.has(Modifier::kNoinc) ? 0 : 1;
  } else if (is_plain) {
    decode_plain_copy(instruction, effect);
  } else if (*effect.operation == Operation::kTensorCopy) {
    decode_tensor_copy(instruction, effect);
  } else {
    decode_bulk_copy(instruction, effect);
  }
}

// st.bulk: [to], bytes, 0
void FunctionDecoder::decode_bulk_zeros(const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const ptx::Effect effect = ptx::classify(instruction);
  auto store = std::make_shared<CopyOperands>();
  if (!effect.operation || operands.size() != 3 || operands[2].kind != Operand::Kind::kInteger ||
      operands[2].bits != 0 || !bind_place(operands[0], effect.space, store->to)) {
    refuse(refusal_.empty() ? "operands" : refusal_);
    return;
  }
  store->bytes = source(operands[1], ScalarType::kU64);
  emit(&execute_bulk_zeros).extra = store.get();
  function_.owned.push_back(std::move(store));
}

// st.async and red.async: [to], value, [mbarrier]
void FunctionDecoder::decode_remote_store(const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const ptx::Effect effect = ptx::classify(instruction);
  const std::uint32_t size = ptx::size_of(effect.type);
  const bool is_reduction = instruction.opcode == Opcode::kRed;
  auto store = std::make_shared<CopyOperands>();
  store->reduction = is_reduction ? select_reduction(read_form(instruction), effect.type) : nullptr;
  if (effect.not_covered || operands.size() != 3 || (size != 4 && size != 8) ||
      effect.elements * size > 16 || (is_reduction && store->reduction == nullptr)) {
    refuse("this asynchronous store");
    return;
  }
  std::vector<Operand> elements;
  if (!elements_of(operands[1], elements)) {
    elements.push_back(operands[1]);
  }
  if (elements.size() != effect.elements ||
      !bind_place(operands[0], StateSpace::kShared, store->to) ||
      !bind_place(operands[2], StateSpace::kShared, store->mbarrier)) {
    refuse(refusal_.empty() ? "the number of registers" : refusal_);
    return;
  }
  store->element_bytes = size;
  for (const Operand& element : elements) {
    store->values[store->count++] = source(element, effect.type);
  }
  emit(&execute_remote_store).extra = store.get();
  function_.owned.push_back(std::move(store));
}

}  // namespace barracuda::emulator
