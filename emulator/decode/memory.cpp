// ld, st, atom, red, cp.async, cvta, isspacep.
#include <algorithm>

#include <fmt/format.h>

#include "emulator/decode/function_decoder.h"
#include "ptx/opcode.h"

namespace barracuda::emulator {

using ptx::ScalarType;
using ptx::StateSpace;

namespace {

Place place_of(StateSpace space) {
  switch (space) {
    case StateSpace::kShared:
      return Place::kShared;
    case StateSpace::kLocal:
      return Place::kLocal;
    case StateSpace::kGlobal:
    case StateSpace::kConst:
      return Place::kGlobal;
    case StateSpace::kNone:
    case StateSpace::kGeneric:
    case StateSpace::kParam:  // by register: parameters have generic addresses
    case StateSpace::kReg:
    case StateSpace::kSreg:
    case StateSpace::kTex:
      return Place::kGeneric;
  }
  return Place::kGeneric;
}

}  // namespace

bool FunctionDecoder::bind_symbol_address(const Operand& base, StateSpace space, Address& address) {
  const Symbol* symbol = symbols_.find(base.name);
  if (symbol != nullptr && symbol->kind == Symbol::Kind::kKernelParameter) {
    address.place = Place::kParameter;
    address.offset += symbol->offset;
    return true;
  }
  if (symbol != nullptr && symbol->kind == Symbol::Kind::kLocal) {
    address.place = Place::kFrame;
    address.offset += symbol->offset;
    return true;
  }
  address.place = place_of(space);
  address.slot = symbol_source(base, ScalarType::kU64);
  return address.slot != kNoSlot;
}

bool FunctionDecoder::bind_address(const Operand& operand, StateSpace space, Address& address) {
  if (operand.kind != Operand::Kind::kAddress || operand.elements.size() != 1) {
    refuse(fmt::format("address {}", operand.text));
    return false;
  }
  const Operand& base = operand.elements[0];
  address.offset = operand.offset;
  if (base.kind == Operand::Kind::kSymbol) {
    return bind_symbol_address(base, space, address);
  }
  address.place = place_of(space);
  address.slot = source(base, ScalarType::kU64);
  return address.slot != kNoSlot;
}

void FunctionDecoder::emit_access(Handler handler, const Address& address,
                                  const std::vector<Slot>& slots) {
  VectorSlots* vector = nullptr;
  if (slots.size() > 1) {
    function_.vectors.push_back(std::make_unique<VectorSlots>());
    vector = function_.vectors.back().get();
    std::ranges::fill(vector->slots, kNoSlot);
    std::ranges::copy(slots, vector->slots);
  }
  Instruction& instruction = emit(handler);
  instruction.d = slots.size() == 1 ? slots[0] : kNoSlot;
  instruction.a = address.slot;
  instruction.immediate = address.offset;
  instruction.flags = static_cast<std::uint8_t>(address.place);
  instruction.count = static_cast<std::uint8_t>(slots.size());
  instruction.extra = vector;
}

void FunctionDecoder::decode_load(const ptx::Instruction& instruction) {
  const ptx::Effect effect = ptx::classify(instruction);
  Address address;
  if (instruction.operands.size() < 2 ||
      !bind_address(instruction.operands[1], effect.space, address)) {
    refuse(refusal_.empty() ? "operands" : refusal_);
    return;
  }
  std::vector<Operand> elements;
  if (!elements_of(instruction.operands[0], elements)) {
    elements.push_back(instruction.operands[0]);
  }
  const bool quad = effect.type == ScalarType::kB128;
  std::vector<Slot> slots;
  for (const Operand& element : elements) {
    const Slot slot = destination(element, effect.type);
    slots.push_back(slot);
    if (quad) {
      slots.push_back(slot == kNoSlot ? kNoSlot
                                      : slot + register_bytes(RegisterClass::kDoubleWord));
    }
  }
  if (slots.size() > 8 || elements.size() != effect.elements) {
    refuse("the number of registers");
    return;
  }
  if (slots.size() == 1 && slots[0] == kNoSlot) {
    slots[0] = temporary(register_class(effect.type));
  }
  const bool strong = effect.order != wire::MemoryOrder::kWeak;
  const Handler handler =
      lane_handlers().load(quad ? ScalarType::kB64 : effect.type, address.place, strong);
  if (handler == nullptr) {
    refuse("its type");
    return;
  }
  emit_access(handler, address, slots);
}

void FunctionDecoder::decode_store(const ptx::Instruction& instruction) {
  const ptx::Effect effect = ptx::classify(instruction);
  Address address;
  if (instruction.opcode != "st" || instruction.has("async") || instruction.has("bulk") ||
      instruction.operands.size() < 2 ||
      !bind_address(instruction.operands[0], effect.space, address)) {
    refuse(refusal_.empty() ? "operands" : refusal_);
    return;
  }
  std::vector<Operand> elements;
  if (!elements_of(instruction.operands[1], elements)) {
    elements.push_back(instruction.operands[1]);
  }
  const bool quad = effect.type == ScalarType::kB128;
  std::vector<Slot> slots;
  for (const Operand& element : elements) {
    const Slot slot = source(element, effect.type);
    slots.push_back(slot);
    if (quad) {
      slots.push_back(slot + register_bytes(RegisterClass::kDoubleWord));
    }
  }
  if (slots.size() > 8 || elements.size() != effect.elements) {
    refuse("the number of registers");
    return;
  }
  const bool strong = effect.order != wire::MemoryOrder::kWeak;
  const Handler handler =
      lane_handlers().store(quad ? ScalarType::kB64 : effect.type, address.place, strong);
  if (handler == nullptr) {
    refuse("its type or space");
    return;
  }
  if (refusal_.empty()) {
    emit_access(handler, address, slots);
  }
}

void FunctionDecoder::decode_atomic(const ptx::Instruction& instruction) {
  const ptx::Effect effect = ptx::classify(instruction);
  const Form form = read_form(instruction);
  const std::size_t first = instruction.opcode == "red" ? 0 : 1;
  const std::size_t operands = first + (form.has("cas") ? 3U : 2U);
  const Handler handler = form.has("async") ? nullptr : select_atomic(form, effect);
  Address address;
  if (handler == nullptr || instruction.operands.size() != operands) {
    refuse("this atomic operation");
    return;
  }
  if (!bind_address(instruction.operands[first], effect.space, address)) {
    return;
  }
  if (address.place == Place::kFrame || address.place == Place::kParameter ||
      address.place == Place::kLocal) {
    refuse("an atomic operation outside global and shared memory");
    return;
  }
  // Halves are moved as bits.
  const std::uint32_t size = ptx::size_of(effect.type);
  const ScalarType type = size == 8   ? ScalarType::kB64
                          : size == 4 ? ScalarType::kB32
                                      : ScalarType::kB16;
  const bool real = form.type() == ScalarType::kF32 || form.type() == ScalarType::kF64;
  const ScalarType bound = real ? form.type() : type;
  const Slot b = source(instruction.operands[first + 1], bound);
  const Slot c = form.has("cas") ? source(instruction.operands[first + 2], bound) : kNoSlot;
  const Slot d = first == 0 ? kNoSlot : destination(instruction.operands[0], bound);
  Instruction& emitted = emit(handler);
  emitted.d = d;
  emitted.a = address.slot;
  emitted.b = b;
  emitted.c = c;
  emitted.immediate = address.offset;
  emitted.flags = static_cast<std::uint8_t>(address.place);
}

// cp.async.{ca,cg}.shared.global [d], [s], size[, source size]: copied at once, which is one of the
// orders that the asynchronous copy may take. Groups then have nothing to wait for.
void FunctionDecoder::decode_async_copy(const ptx::Instruction& instruction) {
  const bool waits = instruction.has("commit_group") || instruction.has("wait_group") ||
                     instruction.has("wait_all");
  if (instruction.has("async") && waits && !instruction.has("bulk")) {
    emit(&execute_nothing);
    return;
  }
  const bool plain = instruction.has("async") && !instruction.has("bulk") &&
                     !instruction.has("mbarrier") && instruction.operands.size() == 3 &&
                     instruction.operands[2].kind == Operand::Kind::kInteger;
  const std::uint64_t bytes = plain ? instruction.operands[2].bits : 0;
  Address to, from;
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    refuse("this asynchronous copy");
    return;
  }
  if (!bind_address(instruction.operands[0], StateSpace::kShared, to) ||
      !bind_address(instruction.operands[1], StateSpace::kGlobal, from)) {
    return;
  }
  const ScalarType type = bytes == 4 ? ScalarType::kB32 : ScalarType::kB64;
  std::vector<Slot> slots;
  for (std::uint64_t done = 0; done < bytes; done += ptx::size_of(type)) {
    slots.push_back(temporary(register_class(type)));
  }
  emit_access(lane_handlers().load(type, from.place, false), from, slots);
  emit_access(lane_handlers().store(type, to.place, false), to, slots);
}

void FunctionDecoder::decode_address_conversion(const ptx::Instruction& instruction) {
  const Form form = read_form(instruction);
  if (instruction.operands.size() != 2 || form.has("shared::cluster")) {
    refuse("this address conversion");
    return;
  }
  const bool to_space = form.has("to");
  const bool shared = form.has("shared") || form.has("shared::cta");
  const AddressWindow window = shared              ? AddressWindow::kShared
                               : form.has("local") ? AddressWindow::kLocal
                                                   : AddressWindow::kGlobal;
  const Slot a = source(instruction.operands[1], ScalarType::kU64);
  const Slot d = destination(instruction.operands[0], ScalarType::kU64);
  Instruction& emitted = emit(to_space ? &execute_from_generic : &execute_to_generic);
  emitted.a = a;
  emitted.d = d;
  emitted.flags = static_cast<std::uint8_t>(window);
}

void FunctionDecoder::decode_is_space(const ptx::Instruction& instruction) {
  const Form form = read_form(instruction);
  const bool shared = form.has("shared") || form.has("shared::cta") || form.has("shared::cluster");
  if (instruction.operands.size() != 2 || (!shared && !form.has("local") && !form.has("global"))) {
    // Constants and parameters lie among the global allocations.
    refuse("this address space test");
    return;
  }
  const Slot a = source(instruction.operands[1], ScalarType::kU64);
  const Slot d = destination(instruction.operands[0], ScalarType::kPred);
  Instruction& emitted = emit(&execute_is_space);
  emitted.a = a;
  emitted.d = d;
  emitted.flags = static_cast<std::uint8_t>(shared              ? AddressWindow::kShared
                                            : form.has("local") ? AddressWindow::kLocal
                                                                : AddressWindow::kGlobal);
}

}  // namespace barracuda::emulator
