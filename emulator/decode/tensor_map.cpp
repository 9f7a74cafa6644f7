// Maps that the device itself changes.
#include "emulator/execute/tensor_map.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "emulator/decode/addresses.h"
#include "emulator/decode/decoders.h"
#include "ptx/opcode.h"

namespace barracuda::emulator {
namespace {

using ptx::ScalarType;

struct Field {
  Modifier modifier{};
  MapField field = MapField::kAddress;
  std::uint32_t dimensions = 0;  // 0: it has none
};

constexpr Field kFields[] = {
    {.modifier = Modifier::kGlobalAddress, .field = MapField::kAddress},
    {.modifier = Modifier::kRank, .field = MapField::kRank},
    {.modifier = Modifier::kBoxDim, .field = MapField::kBoxDim, .dimensions = kMaxTensorRank},
    {.modifier = Modifier::kGlobalDim, .field = MapField::kGlobalDim, .dimensions = kMaxTensorRank},
    {.modifier = Modifier::kGlobalStride,
     .field = MapField::kGlobalStride,
     .dimensions = kMaxTensorRank - 1},
    {.modifier = Modifier::kElementStride,
     .field = MapField::kElementStride,
     .dimensions = kMaxTensorRank},
    {.modifier = Modifier::kElemtype, .field = MapField::kElement},
    {.modifier = Modifier::kInterleaveLayout, .field = MapField::kInterleave},
    {.modifier = Modifier::kSwizzleMode, .field = MapField::kSwizzle},
    {.modifier = Modifier::kSwizzleAtomicity, .field = MapField::kSwizzleAtomicity},
    {.modifier = Modifier::kFillMode, .field = MapField::kFill}};

// [map] [, dimension], value
void decode_change(CodeEmitter& code, const ptx::Instruction& instruction,
                   const ptx::Effect& effect) {
  const auto& operands = instruction.operands;
  const auto* const field = std::ranges::find_if(
      kFields, [&](const Field& candidate) { return instruction.has(candidate.modifier); });
  if (field == std::end(kFields)) {
    code.refuse("this field of a tensor map");
    return;
  }
  auto change = std::make_shared<MapChange>();
  change->field = field->field;
  const std::size_t value = field->dimensions != 0 ? 2 : 1;
  const bool has_dimension =
      value == 1 || (operands.size() > 1 && operands[1].kind == ptx::Operand::Kind::kInteger &&
                     operands[1].bits < field->dimensions);
  if (operands.size() != value + 1 || !has_dimension ||
      !bind_place(code, operands[0], effect.space, change->map)) {
    code.refuse_by_default("operands");
    return;
  }
  change->dimension = value == 2 ? static_cast<std::uint32_t>(operands[1].bits) : 0;
  change->is_wide = instruction.has(Modifier::kB64);
  change->value =
      code.source(operands[value], change->is_wide ? ScalarType::kB64 : ScalarType::kB32);
  code.emit(&execute_map_change, std::move(change));
}

}  // namespace

// tensormap.replace; tensormap.cp_fenceproxy: [to], [from], 128
void decode_tensor_map(CodeEmitter& code, const ptx::Instruction& instruction) {
  const ptx::Effect effect = ptx::classify(instruction);
  if (!effect.operation) {
    code.refuse("this operation on a tensor map");
    return;
  }
  if (!instruction.has(Modifier::kCpFenceproxy)) {
    decode_change(code, instruction, effect);
    return;
  }
  auto copy = std::make_shared<CopyOperands>();
  if (instruction.operands.size() != 3 ||
      !bind_place(code, instruction.operands[0], effect.space, copy->to) ||
      !bind_place(code, instruction.operands[1], effect.source_space, copy->from)) {
    code.refuse_by_default("operands");
    return;
  }
  code.emit(&execute_map_copy, std::move(copy));
}

}  // namespace barracuda::emulator
