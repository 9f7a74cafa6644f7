// mbarrier and the copies that are made later.
#include "emulator/execute/asynchronous.h"

#include <array>

#include "emulator/decode/function_decoder.h"
#include "ptx/opcode.h"

namespace barracuda::emulator {

using ptx::ScalarType;
using ptx::StateSpace;

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
  const Form form = read_form(instruction);
  const auto& operands = instruction.operands;
  if (form.has("pending_count") && operands.size() == 2) {
    const Slot a = source(operands[1], ScalarType::kB64);
    const Slot d = destination(operands[0], ScalarType::kU32);
    Instruction& emitted = emit(&execute_pending_count);
    emitted.a = a;
    emitted.d = d;
    return;
  }
  const ptx::Effect effect = ptx::classify(instruction);
  const Handler handler = select_mbarrier(form);
  const auto at = static_cast<std::size_t>(effect.address_operand);
  Instruction pattern;
  if (handler == nullptr || effect.address_operand < 0 || at > 1 ||
      !bind_place(operands[at], effect.space, pattern)) {
    refuse(refusal_.empty() ? "this mbarrier operation" : refusal_);
    return;
  }
  const bool waits = form.has("test_wait") || form.has("try_wait");
  const bool has_operand = operands.size() > at + 1;
  if (waits && has_operand) {
    pattern.b = source(operands[at + 1], form.has("parity") ? ScalarType::kU32 : ScalarType::kB64);
  } else if (has_operand) {
    const bool bytes = form.has("expect_tx") || form.has("complete_tx");
    (bytes ? pattern.c : pattern.b) = source(operands[at + 1], ScalarType::kU32);
  }
  const bool needs_operand = waits || form.has("init") || form.has("expect_tx");
  if (needs_operand && !has_operand) {
    refuse("operands");
    return;
  }
  if (at == 1) {
    pattern.d = destination(operands[0], waits ? ScalarType::kPred : ScalarType::kB64);
  }
  Instruction& emitted = emit(handler);
  emitted.a = pattern.a;
  emitted.b = pattern.b;
  emitted.c = pattern.c;
  emitted.d = pattern.d;
  emitted.immediate = pattern.immediate;
  emitted.flags = pattern.flags;
}

// cp.async.{ca,cg}.shared.global [to], [from], size [, bytes that are read | a predicate]
void FunctionDecoder::decode_plain_copy(const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const bool has_size = operands.size() >= 3 && operands[2].kind == Operand::Kind::kInteger;
  const std::uint64_t size = has_size ? operands[2].bits : 0;
  if (size != 4 && size != 8 && size != 16) {
    refuse("this asynchronous copy");
    return;
  }
  auto copy = std::make_shared<CopyOperands>();
  copy->size = static_cast<std::uint32_t>(size);
  if (!bind_place(operands[0], StateSpace::kShared, copy->to) ||
      !bind_place(operands[1], StateSpace::kGlobal, copy->from)) {
    return;
  }
  const bool has_policy = instruction.has("L2::cache_hint");
  if (operands.size() > (has_policy ? 4U : 3U)) {
    const Operand& read = operands[3];
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
// [to], [from], bytes [, [mbarrier]] [, CTA mask] [, cache policy]
void FunctionDecoder::decode_bulk_copy(const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const Form form = read_form(instruction);
  const bool signals = form.has("mbarrier::complete_tx::bytes");
  const bool reduces = form.has("reduce");
  if (form.has("tensor") || form.has("cp_mask") || form.has("prefetch") ||
      (!signals && !form.has("bulk_group")) || operands.size() < (signals ? 4U : 3U)) {
    refuse("this bulk copy");
    return;
  }
  auto copy = std::make_shared<CopyOperands>();
  const ScalarType type = form.type();
  copy->reduction = reduces ? select_reduction(form, type) : nullptr;
  copy->element_bytes = ptx::size_of(type);
  if (reduces && copy->reduction == nullptr) {
    refuse("its reduction");
    return;
  }
  // The first space that is written is the destination's.
  const bool to_global = ptx::classify(instruction).space == StateSpace::kGlobal;
  const bool from_global = !to_global && form.has("global");
  if (!bind_place(operands[0], to_global ? StateSpace::kGlobal : StateSpace::kShared, copy->to) ||
      !bind_place(operands[1], from_global ? StateSpace::kGlobal : StateSpace::kShared,
                  copy->from) ||
      (signals && !bind_place(operands[3], StateSpace::kShared, copy->mbarrier))) {
    return;
  }
  copy->bytes = source(operands[2], ScalarType::kU32);
  if (form.has("multicast::cluster")) {
    if (operands.size() < 5) {
      refuse("operands");
      return;
    }
    copy->ctas = source(operands[4], ScalarType::kU16);
  }
  emit(signals ? &execute_bulk_signalled : &execute_bulk_grouped).extra = copy.get();
  function_.owned.push_back(std::move(copy));
}

void FunctionDecoder::decode_async_copy(const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const bool bulk = instruction.has("bulk");
  if (!instruction.has("async")) {
    refuse("this copy");
  } else if (instruction.has("prefetch")) {
    emit(&execute_nothing);
  } else if (instruction.has("commit_group")) {
    emit(bulk ? &execute_bulk_group_end : &execute_copy_group_end);
  } else if (instruction.has("wait_group")) {
    if (operands.size() != 1 || operands[0].kind != Operand::Kind::kInteger) {
      refuse("operands");
      return;
    }
    emit(bulk ? &execute_bulk_wait : &execute_copy_wait).immediate =
        static_cast<std::int64_t>(operands[0].bits);
  } else if (instruction.has("wait_all")) {
    emit(&execute_copy_wait_all);
  } else if (bulk) {
    decode_bulk_copy(instruction);
  } else if (instruction.has("mbarrier")) {
    Instruction place;
    if (operands.size() != 1 || !bind_place(operands[0], ptx::classify(instruction).space, place)) {
      refuse(refusal_.empty() ? "operands" : refusal_);
      return;
    }
    Instruction& emitted = emit(&execute_copy_arrival);
    emitted.a = place.a;
    emitted.immediate = place.immediate;
    emitted.flags = place.flags;
    emitted.count = instruction.has("noinc") ? 0 : 1;
  } else {
    decode_plain_copy(instruction);
  }
}

// st.async and red.async: [to], value, [mbarrier]
void FunctionDecoder::decode_remote_store(const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const Form form = read_form(instruction);
  const ptx::Effect effect = ptx::classify(instruction);
  const std::uint32_t size = ptx::size_of(effect.type);
  auto store = std::make_shared<CopyOperands>();
  store->reduction = instruction.opcode == "red" ? select_reduction(form, effect.type) : nullptr;
  if (operands.size() != 3 || !form.has("mbarrier::complete_tx::bytes") ||
      (size != 4 && size != 8) || effect.elements * size > 16 ||
      (instruction.opcode == "red" && store->reduction == nullptr)) {
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
