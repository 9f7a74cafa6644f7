// tcgen05.
#include "emulator/execute/tensor_core.h"

#include <array>
#include <memory>
#include <utility>

#include "emulator/decode/addresses.h"
#include "emulator/decode/decoders.h"
#include "emulator/decode/matrix_elements.h"
#include "emulator/execute/control.h"

namespace barracuda::emulator {

using ptx::ScalarType;
using ptx::StateSpace;

namespace {

// .x1 to .x128; 0: none.
std::size_t registers_of(const ptx::Instruction& instruction) {
  constexpr std::array kCounts{
      std::pair{Modifier::kX1, 1},   std::pair{Modifier::kX2, 2},     std::pair{Modifier::kX4, 4},
      std::pair{Modifier::kX8, 8},   std::pair{Modifier::kX16, 16},   std::pair{Modifier::kX32, 32},
      std::pair{Modifier::kX64, 64}, std::pair{Modifier::kX128, 128},
  };
  for (const auto& [modifier, count] : kCounts) {
    if (instruction.has(modifier)) {
      return static_cast<std::size_t>(count);
    }
  }
  return 0;
}

// tcgen05.ld.sync.aligned.SHAPE.COUNT.b32 {d…}, [from]; tcgen05.st the other way round
void decode_access(CodeEmitter& code, const ptx::Instruction& instruction, bool loads) {
  const auto& operands = instruction.operands;
  const std::size_t count = registers_of(instruction);
  if (!instruction.has(Modifier::k32x32b) || instruction.has(Modifier::kPack16b) ||
      instruction.has(Modifier::kUnpack16b) || instruction.has(Modifier::kRed) || count == 0 ||
      operands.size() != 2) {
    code.refuse("an access of tensor memory of another shape than 32x32b, or packed");
    return;
  }
  auto access = std::make_shared<TensorCoreOperands>();
  if (!bind_place(code, operands[loads ? 1 : 0], StateSpace::kShared, access->memory) ||
      !bind_registers(code, operands[loads ? 0 : 1], ScalarType::kB32, loads, access->registers)) {
    code.refuse_by_default("operands");
    return;
  }
  if (access->registers.size() != count) {
    code.refuse("the number of registers");
    return;
  }
  code.emit(loads ? &execute_tensor_core_load : &execute_tensor_core_store, std::move(access));
}

void decode_allocation(CodeEmitter& code, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const StateSpace space = ptx::classify(instruction).space;
  Instruction pattern{.handler = &execute_tensor_core_allocate};
  if (operands.size() != 2 || !bind_place(code, operands[0], space, pattern)) {
    code.refuse_by_default("operands");
    return;
  }
  pattern.b = code.source(operands[1], ScalarType::kU32);
  code.emit(pattern);
}

void decode_commit(CodeEmitter& code, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const ptx::Effect effect = ptx::classify(instruction);
  Instruction pattern{.handler = &execute_tensor_core_commit};
  if (!effect.operation || operands.size() != 1) {
    code.refuse("an arrival in several blocks");
  } else if (!bind_place(code, operands[0], effect.space, pattern)) {
    code.refuse_by_default("operands");
  } else {
    code.emit(pattern);
  }
}

// What of a product is not executed; empty: all is known.
std::string_view unknown_in(const ptx::Instruction& instruction,
                            const ptx::TensorInstruction& read) {
  const auto adds = static_cast<std::size_t>(read.adds);
  const auto& operands = instruction.operands;
  return read.reads.is_sparse                                                ? "a sparse product"
         : wire::is_block_scaled(read.reads.kind)                            ? "scales of blocks"
         : instruction.mnemonic.find(".ashift") != instruction.mnemonic.npos ? "rows that move"
         : operands[adds - 1].kind == ptx::Operand::Kind::kVector ? "lanes that are left out"
         : operands.size() > adds + 1                             ? "a scale of D"
                                                                  : "";
}

void decode_product(CodeEmitter& code, const ptx::Instruction& instruction,
                    const ptx::TensorInstruction& read) {
  const auto& operands = instruction.operands;
  const auto at = [&](int operand) -> const ptx::Operand& {
    return operands[static_cast<std::size_t>(operand)];
  };
  if (const std::string_view unknown = unknown_in(instruction, read); !unknown.empty()) {
    code.refuse(std::string(unknown));
    return;
  }
  auto product = std::make_shared<TensorCoreOperands>();
  product->instruction = read;
  if (!bind_place(code, operands[0], StateSpace::kShared, product->memory) ||
      (read.a < 0 && !bind_place(code, operands[1], StateSpace::kShared, product->memory_of_a))) {
    code.refuse_by_default("operands");
    return;
  }
  product->a = read.a < 0 ? kNoSlot : code.source(at(read.a), ScalarType::kB64);
  product->b = code.source(at(read.b), ScalarType::kB64);
  product->shape = code.source(at(read.shape), ScalarType::kB32);
  product->adds = code.source(at(read.adds), ScalarType::kPred);
  if (code.refusal().empty()) {
    code.emit(Instruction{.handler = &execute_tensor_core_product,
                          .flags = static_cast<std::uint8_t>(Place::kShared)},
              std::move(product));
  }
}

// Of 128 rows, or of 32 that go to all warps.
void decode_copy(CodeEmitter& code, const ptx::Instruction& instruction,
                 const ptx::TensorInstruction& read) {
  const auto& operands = instruction.operands;
  auto copy = std::make_shared<TensorCoreOperands>();
  copy->instruction = read;
  if ((read.reads.rows != 128 && read.reads.rows != 32) ||
      !bind_place(code, operands[0], StateSpace::kShared, copy->memory)) {
    code.refuse_by_default("a copy of this shape");
    return;
  }
  copy->a = code.source(operands[static_cast<std::size_t>(read.a)], ScalarType::kB64);
  if (code.refusal().empty()) {
    code.emit(Instruction{.handler = &execute_tensor_core_copy,
                          .flags = static_cast<std::uint8_t>(Place::kShared)},
              std::move(copy));
  }
}

}  // namespace

void decode_tensor_core(CodeEmitter& code, const ptx::Instruction& instruction) {
  using enum Modifier;
  const auto& operands = instruction.operands;
  const auto has = [&](Modifier modifier) { return instruction.has(modifier); };
  const bool only_orders =
      has(kWaitLd) || has(kWaitSt) || has(kFenceBeforeThreadSync) || has(kFenceAfterThreadSync);
  if (only_orders || (has(kRelinquishAllocPermit) && has(kCtaGroup1))) {
    code.emit(&execute_nothing);
  } else if (has(kLd) || has(kSt)) {
    decode_access(code, instruction, has(kLd));
  } else if (!has(kCtaGroup1)) {
    code.refuse("two blocks of a cluster (cta_group::2)");
  } else if (has(kAlloc)) {
    decode_allocation(code, instruction);
  } else if (has(kDealloc) && operands.size() == 2) {
    Instruction pattern{.handler = &execute_tensor_core_free};
    pattern.a = code.source(operands[0], ScalarType::kB32);
    pattern.b = code.source(operands[1], ScalarType::kU32);
    code.emit(pattern);
  } else if (has(kCommit)) {
    decode_commit(code, instruction);
  } else if (const auto read = ptx::read_tensor_instruction(instruction); read && !has(kShift)) {
    has(kCp) ? decode_copy(code, instruction, *read) : decode_product(code, instruction, *read);
  } else {
    code.refuse("this form of tcgen05");
  }
}

}  // namespace barracuda::emulator
