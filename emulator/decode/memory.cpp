// ld, st, atom, red, cvta, isspacep.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "emulator/decode/function_decoder.h"
#include "emulator/execute/asynchronous.h"
#include "emulator/execute/wide_atomic.h"
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
  if (instruction.has(Modifier::kAsync)) {
    decode_remote_store(instruction);
    return;
  }
  if (instruction.has(Modifier::kBulk)) {
    decode_bulk_zeros(instruction);
    return;
  }
  if (instruction.opcode != Opcode::kSt || instruction.operands.size() < 2 ||
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
  if (form.has(Modifier::kAsync)) {
    decode_remote_store(instruction);
    return;
  }
  const bool quad = form.type() == ScalarType::kB128;
  const bool half = ptx::size_of(form.type()) <= 4 && select_vector_atomic(form) != nullptr;
  if (effect.elements != 1 || (half && form.type() != ScalarType::kF32)) {
    decode_vector_atomic(instruction);
    return;
  }
  const std::size_t first = instruction.opcode == Opcode::kRed ? 0 : 1;
  const std::size_t operands = first + (form.has(Modifier::kCas) ? 3U : 2U);
  const Handler handler = quad ? select_quad_atomic(form) : select_atomic(form, effect);
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
  const ScalarType type = size == 16  ? ScalarType::kB128
                          : size == 8 ? ScalarType::kB64
                          : size == 4 ? ScalarType::kB32
                                      : ScalarType::kB16;
  const bool real = form.type() == ScalarType::kF32 || form.type() == ScalarType::kF64;
  const ScalarType bound = real ? form.type() : type;
  const Slot b = source(instruction.operands[first + 1], bound);
  const Slot c =
      form.has(Modifier::kCas) ? source(instruction.operands[first + 2], bound) : kNoSlot;
  const Slot d = first == 0 ? kNoSlot : destination(instruction.operands[0], bound);
  Instruction& emitted = emit(handler);
  emitted.d = d;
  emitted.a = address.slot;
  emitted.b = b;
  emitted.c = c;
  emitted.immediate = address.offset;
  emitted.flags = static_cast<std::uint8_t>(address.place);
}

// atom and red with .v2 … .v8, and of f16, bf16 and their pairs.
void FunctionDecoder::decode_vector_atomic(const ptx::Instruction& instruction) {
  const ptx::Effect effect = ptx::classify(instruction);
  const Form form = read_form(instruction);
  const std::size_t first = instruction.opcode == Opcode::kRed ? 0 : 1;
  const Handler handler = select_vector_atomic(form);
  Address address;
  if (handler == nullptr || instruction.operands.size() != first + 2) {
    refuse("this atomic operation");
    return;
  }
  if (!bind_address(instruction.operands[first], effect.space, address)) {
    return;
  }
  std::vector<Operand> operands, results;
  if (!elements_of(instruction.operands[first + 1], operands)) {
    operands.push_back(instruction.operands[first + 1]);
  }
  if (first == 1 && !elements_of(instruction.operands[0], results)) {
    results.push_back(instruction.operands[0]);
  }
  const bool fits = operands.size() == effect.elements && operands.size() <= 8 &&
                    (first == 0 || results.size() == effect.elements);
  if (!fits || address.place == Place::kFrame || address.place == Place::kParameter ||
      address.place == Place::kLocal) {
    refuse("the number of registers, or its space");
    return;
  }
  const ScalarType type = ptx::size_of(form.type()) == 2 ? ScalarType::kB16 : ScalarType::kB32;
  const ScalarType bound = form.type() == ScalarType::kF32 ? ScalarType::kF32 : type;
  auto slots = std::make_shared<WideAtomicSlots>();
  std::ranges::fill(slots->results, kNoSlot);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    slots->operands[i] = source(operands[i], bound);
    slots->results[i] = first == 1 ? destination(results[i], bound) : kNoSlot;
  }
  Instruction& emitted = emit(handler);
  emitted.a = address.slot;
  emitted.immediate = address.offset;
  emitted.flags = static_cast<std::uint8_t>(address.place);
  emitted.count = static_cast<std::uint8_t>(operands.size());
  emitted.extra = slots.get();
  function_.owned.push_back(std::move(slots));
}

void FunctionDecoder::decode_address_conversion(const ptx::Instruction& instruction) {
  const Form form = read_form(instruction);
  if (instruction.operands.size() != 2) {
    refuse("this address conversion");
    return;
  }
  const bool to_space = form.has(Modifier::kTo);
  const bool shared = form.has(Modifier::kShared) || form.has(Modifier::kSharedCta) ||
                      form.has(Modifier::kSharedCluster);
  const AddressWindow window = shared                       ? AddressWindow::kShared
                               : form.has(Modifier::kLocal) ? AddressWindow::kLocal
                                                            : AddressWindow::kGlobal;
  const Slot a = source(instruction.operands[1], ScalarType::kU64);
  const Slot d = destination(instruction.operands[0], ScalarType::kU64);
  Instruction& emitted = emit(to_space ? &execute_from_generic : &execute_to_generic);
  emitted.a = a;
  emitted.d = d;
  emitted.flags = static_cast<std::uint8_t>(window);
}

void FunctionDecoder::decode_is_space(const ptx::Instruction& instruction) {
  static const boost::unordered_flat_map<Modifier, AddressWindow> windows = {
      {Modifier::kGlobal, AddressWindow::kGlobal},
      {Modifier::kLocal, AddressWindow::kLocal},
      {Modifier::kShared, AddressWindow::kSharedOfCta},
      {Modifier::kSharedCta, AddressWindow::kSharedOfCta},
      {Modifier::kSharedCluster, AddressWindow::kShared},
      {Modifier::kConst, AddressWindow::kConst},
      {Modifier::kParam, AddressWindow::kParameter},
      {Modifier::kParamEntry, AddressWindow::kParameter}};
  const auto found =
      instruction.modifiers.empty() ? windows.end() : windows.find(instruction.modifiers[0]);
  if (instruction.operands.size() != 2 || found == windows.end()) {
    refuse("this address space test");
    return;
  }
  const Slot a = source(instruction.operands[1], ScalarType::kU64);
  const Slot d = destination(instruction.operands[0], ScalarType::kPred);
  Instruction& emitted = emit(&execute_is_space);
  emitted.a = a;
  emitted.d = d;
  emitted.flags = static_cast<std::uint8_t>(found->second);
}

// mapa d, a, rank; getctarank d, a
void FunctionDecoder::decode_cluster_address(const ptx::Instruction& instruction) {
  const Form form = read_form(instruction);
  const bool maps = instruction.opcode == Opcode::kMapa;
  if (instruction.operands.size() != (maps ? 3U : 2U)) {
    refuse("operands");
    return;
  }
  const Slot a = source(instruction.operands[1], ScalarType::kU64);
  const Slot b = maps ? source(instruction.operands[2], ScalarType::kU32) : kNoSlot;
  const Slot d = destination(instruction.operands[0], maps ? ScalarType::kU64 : ScalarType::kU32);
  Instruction& emitted = emit(maps ? &execute_map_address : &execute_cta_rank);
  emitted.a = a;
  emitted.b = b;
  emitted.d = d;
  emitted.flags = static_cast<std::uint8_t>(
      form.has(Modifier::kSharedCluster) ? AddressWindow::kShared : AddressWindow::kGlobal);
}

// alloca ptr, bytes[, alignment]; stacksave d; stackrestore a
void FunctionDecoder::decode_stack(const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const bool allocates = instruction.opcode == Opcode::kAlloca;
  if (operands.empty() || (allocates && operands.size() < 2)) {
    refuse("operands");
    return;
  }
  if (instruction.opcode == Opcode::kStackrestore) {
    const Slot a = source(operands[0], ScalarType::kU64);
    emit(&execute_restore_stack).a = a;
    return;
  }
  const Slot a = allocates ? source(operands[1], ScalarType::kU64) : kNoSlot;
  const Slot d = destination(operands[0], ScalarType::kU64);
  const std::uint64_t alignment = operands.size() > 2 ? operands[2].bits : 16;
  Instruction& emitted = emit(allocates ? &execute_allocate : &execute_save_stack);
  emitted.a = a;
  emitted.d = d;
  emitted.count =
      static_cast<std::uint8_t>(std::bit_width(std::max<std::uint64_t>(alignment, 16)) - 1);
}

}  // namespace barracuda::emulator
