// ld, st, atom, red, cvta, isspacep.
#include <algorithm>
#include <bit>

#include "emulator/decode/addresses.h"
#include "emulator/decode/decoders.h"
#include "emulator/execute/asynchronous.h"
#include "emulator/execute/control.h"
#include "emulator/execute/wide_atomic.h"
#include "emulator/state/memory_use.h"
#include "ptx/opcode.h"

namespace barracuda::emulator {

using ptx::ScalarType;

namespace {

struct AccessHandler {
  Handler handler = nullptr;
  std::uint8_t memory = 0;  // memory_use()
};

void emit_access(CodeEmitter& code, const AccessHandler& access, const Address& address,
                 const std::vector<Slot>& slots) {
  VectorSlots* vector = nullptr;
  if (slots.size() > 1) {
    vector = code.function().vectors.emplace_back(std::make_unique<VectorSlots>()).get();
    std::ranges::fill(vector->slots, kNoSlot);
    std::ranges::copy(slots, vector->slots);
  }
  Instruction& instruction = code.emit(access.handler);
  instruction.memory = access.memory;
  instruction.d = slots.size() == 1 ? slots[0] : kNoSlot;
  instruction.a = address.slot;
  instruction.immediate = address.offset;
  instruction.flags = static_cast<std::uint8_t>(address.place);
  instruction.count = static_cast<std::uint8_t>(slots.size());
  instruction.extra = vector;
}

// The registers of a load or store, as `bind` gives them. False, and the instruction is refused, if
// there are more or fewer than its elements.
template <typename Bind>
bool bind_elements(CodeEmitter& code, const ptx::Operand& operand, const ptx::Effect& effect,
                   const Bind& bind, std::vector<Slot>& slots) {
  const std::vector<ptx::Operand> elements = code.elements_of(operand);
  for (const ptx::Operand& element : elements) {
    const Slot slot = bind(element);
    slots.push_back(slot);
    if (effect.type == ScalarType::kB128) {
      slots.push_back(slot == kNoSlot ? kNoSlot
                                      : slot + register_bytes(RegisterClass::kDoubleWord));
    }
  }
  if (slots.size() > 8 || elements.size() != effect.elements) {
    code.refuse("the number of registers");
    return false;
  }
  return true;
}

ScalarType part_of(ScalarType type) {
  return type == ScalarType::kB128 ? ScalarType::kB64 : type;
}

// atom and red with .v2 … .v8, and of f16, bf16 and their pairs.
void decode_vector_atomic(CodeEmitter& code, const ptx::Instruction& instruction) {
  const ptx::Effect effect = ptx::classify(instruction);
  const Form form = read_form(instruction);
  const auto first = static_cast<std::size_t>(effect.address_operand);
  const Handler handler = select_vector_atomic(form);
  Address address;
  if (handler == nullptr || instruction.operands.size() != first + 2) {
    code.refuse("this atomic operation");
    return;
  }
  if (!bind_address(code, instruction.operands[first], effect.space, address)) {
    return;
  }
  const std::vector<ptx::Operand> operands = code.elements_of(instruction.operands[first + 1]);
  const std::vector<ptx::Operand> results = code.elements_of(instruction.operands[0]);
  const bool fits = operands.size() == effect.elements && operands.size() <= 8 &&
                    (first == 0 || results.size() == effect.elements);
  if (!fits || !is_outside_frame(address)) {
    code.refuse("the number of registers, or its space");
    return;
  }
  const ScalarType type = ptx::size_of(form.type()) == 2 ? ScalarType::kB16 : ScalarType::kB32;
  const ScalarType bound = form.type() == ScalarType::kF32 ? ScalarType::kF32 : type;
  auto slots = std::make_shared<WideAtomicSlots>();
  std::ranges::fill(slots->results, kNoSlot);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    slots->operands[i] = code.source(operands[i], bound);
    slots->results[i] = first == 1 ? code.destination(results[i], bound) : kNoSlot;
  }
  Instruction& emitted = code.emit(handler);
  emitted.a = address.slot;
  emitted.immediate = address.offset;
  emitted.flags = static_cast<std::uint8_t>(address.place);
  emitted.count = static_cast<std::uint8_t>(operands.size());
  emitted.memory = memory_use(MemoryUse::kWrites, ptx::size_of(type));
  emitted.extra = slots.get();
  code.function().owned.push_back(std::move(slots));
}

}  // namespace

void decode_load(CodeEmitter& code, const ptx::Instruction& instruction) {
  const ptx::Effect effect = ptx::classify(instruction);
  Address address;
  if (instruction.operands.size() < 2 ||
      !bind_address(code, instruction.operands[1], effect.space, address)) {
    code.refuse_by_default("operands");
    return;
  }
  std::vector<Slot> slots;
  const auto bind = [&](const ptx::Operand& each) { return code.destination(each, effect.type); };
  if (!bind_elements(code, instruction.operands[0], effect, bind, slots)) {
    return;
  }
  if (slots.size() == 1 && slots[0] == kNoSlot) {
    slots[0] = code.temporary(register_class(effect.type));
  }
  const bool strong = effect.order != wire::MemoryOrder::kWeak;
  const Handler handler = lane_handlers().load(part_of(effect.type), address.place, strong);
  if (handler == nullptr) {
    code.refuse("its type");
    return;
  }
  const std::uint32_t bytes = ptx::size_of(part_of(effect.type));
  emit_access(code, {.handler = handler, .memory = memory_use(MemoryUse::kReads, bytes)}, address,
              slots);
}

void decode_store(CodeEmitter& code, const ptx::Instruction& instruction) {
  const ptx::Effect effect = ptx::classify(instruction);
  Address address;
  const bool is_unwaited = effect.asynchrony == wire::Asynchrony::kUnwaited;  // made at once
  if (instruction.has(Modifier::kAsync) && !is_unwaited) {
    decode_remote_store(code, instruction);
    return;
  }
  if (instruction.has(Modifier::kBulk)) {
    decode_bulk_zeros(code, instruction);
    return;
  }
  if (instruction.opcode != Opcode::kSt || instruction.operands.size() < 2 ||
      !bind_address(code, instruction.operands[0], effect.space, address)) {
    code.refuse_by_default("operands");
    return;
  }
  std::vector<Slot> slots;
  const auto bind = [&](const ptx::Operand& each) { return code.source(each, effect.type); };
  if (!bind_elements(code, instruction.operands[1], effect, bind, slots)) {
    return;
  }
  const bool strong = effect.order != wire::MemoryOrder::kWeak;
  const Handler handler = lane_handlers().store(part_of(effect.type), address.place, strong);
  if (handler == nullptr) {
    code.refuse("its type or space");
    return;
  }
  if (code.refusal().empty()) {
    const std::uint32_t bytes = ptx::size_of(part_of(effect.type));
    emit_access(code, {.handler = handler, .memory = memory_use(MemoryUse::kWrites, bytes)},
                address, slots);
  }
}

void decode_atomic(CodeEmitter& code, const ptx::Instruction& instruction) {
  const ptx::Effect effect = ptx::classify(instruction);
  const Form form = read_form(instruction);
  if (form.has(Modifier::kAsync) && effect.asynchrony != wire::Asynchrony::kUnwaited) {
    decode_remote_store(code, instruction);
    return;
  }
  const bool quad = form.type() == ScalarType::kB128;
  const bool half = ptx::size_of(form.type()) <= 4 && select_vector_atomic(form) != nullptr;
  if (effect.elements != 1 || (half && form.type() != ScalarType::kF32)) {
    decode_vector_atomic(code, instruction);
    return;
  }
  const auto first = static_cast<std::size_t>(effect.address_operand);
  const std::size_t operands = first + (form.has(Modifier::kCas) ? 3U : 2U);
  const Handler handler = quad ? select_quad_atomic(form) : select_atomic(form, effect);
  Address address;
  if (handler == nullptr || instruction.operands.size() != operands) {
    code.refuse("this atomic operation");
    return;
  }
  if (!bind_address(code, instruction.operands[first], effect.space, address)) {
    return;
  }
  if (!is_outside_frame(address)) {
    code.refuse("an atomic operation outside global and shared memory");
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
  const Slot b = code.source(instruction.operands[first + 1], bound);
  const Slot c =
      form.has(Modifier::kCas) ? code.source(instruction.operands[first + 2], bound) : kNoSlot;
  const Slot d = first == 0 ? kNoSlot : code.destination(instruction.operands[0], bound);
  Instruction& emitted = code.emit(handler);
  emitted.d = d;
  emitted.a = address.slot;
  emitted.b = b;
  emitted.c = c;
  emitted.immediate = address.offset;
  emitted.flags = static_cast<std::uint8_t>(address.place);
  emitted.memory = memory_use(MemoryUse::kWrites, size);
}

void decode_address_conversion(CodeEmitter& code, const ptx::Instruction& instruction) {
  const Form form = read_form(instruction);
  if (instruction.operands.size() != 2) {
    code.refuse("this address conversion");
    return;
  }
  const bool to_space = form.has(Modifier::kTo);
  const bool shared = form.has(Modifier::kShared) || form.has(Modifier::kSharedCta) ||
                      form.has(Modifier::kSharedCluster);
  const AddressWindow window = shared                       ? AddressWindow::kShared
                               : form.has(Modifier::kLocal) ? AddressWindow::kLocal
                                                            : AddressWindow::kGlobal;
  const Slot a = code.source(instruction.operands[1], ScalarType::kU64);
  const Slot d = code.destination(instruction.operands[0], ScalarType::kU64);
  Instruction& emitted = code.emit(to_space ? &execute_from_generic : &execute_to_generic);
  emitted.a = a;
  emitted.d = d;
  emitted.flags = static_cast<std::uint8_t>(window);
}

void decode_is_space(CodeEmitter& code, const ptx::Instruction& instruction) {
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
    code.refuse("this address space test");
    return;
  }
  const Slot a = code.source(instruction.operands[1], ScalarType::kU64);
  const Slot d = code.destination(instruction.operands[0], ScalarType::kPred);
  Instruction& emitted = code.emit(&execute_is_space);
  emitted.a = a;
  emitted.d = d;
  emitted.flags = static_cast<std::uint8_t>(found->second);
}

// mapa d, a, rank; getctarank d, a
void decode_cluster_address(CodeEmitter& code, const ptx::Instruction& instruction) {
  const Form form = read_form(instruction);
  const bool maps = instruction.opcode == Opcode::kMapa;
  if (instruction.operands.size() != (maps ? 3U : 2U)) {
    code.refuse("operands");
    return;
  }
  const Slot a = code.source(instruction.operands[1], ScalarType::kU64);
  const Slot b = maps ? code.source(instruction.operands[2], ScalarType::kU32) : kNoSlot;
  const Slot d =
      code.destination(instruction.operands[0], maps ? ScalarType::kU64 : ScalarType::kU32);
  Instruction& emitted = code.emit(maps ? &execute_map_address : &execute_cta_rank);
  emitted.a = a;
  emitted.b = b;
  emitted.d = d;
  emitted.flags = static_cast<std::uint8_t>(
      form.has(Modifier::kSharedCluster) ? AddressWindow::kShared : AddressWindow::kGlobal);
}

// alloca ptr, bytes[, alignment]; stacksave d; stackrestore a
void decode_stack(CodeEmitter& code, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const bool allocates = instruction.opcode == Opcode::kAlloca;
  if (operands.empty() || (allocates && operands.size() < 2)) {
    code.refuse("operands");
    return;
  }
  if (instruction.opcode == Opcode::kStackrestore) {
    const Slot a = code.source(operands[0], ScalarType::kU64);
    code.emit(&execute_restore_stack).a = a;
    return;
  }
  const Slot a = allocates ? code.source(operands[1], ScalarType::kU64) : kNoSlot;
  const Slot d = code.destination(operands[0], ScalarType::kU64);
  const std::uint64_t alignment = operands.size() > 2 ? operands[2].bits : 16;
  Instruction& emitted = code.emit(allocates ? &execute_allocate : &execute_save_stack);
  emitted.a = a;
  emitted.d = d;
  emitted.count =
      static_cast<std::uint8_t>(std::bit_width(std::max<std::uint64_t>(alignment, 16)) - 1);
}

}  // namespace barracuda::emulator
