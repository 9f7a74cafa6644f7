// Copies of boxes of tensors.
#include "emulator/execute/tensor_copy.h"

#include <memory>
#include <utility>

#include "emulator/decode/addresses.h"
#include "emulator/decode/decoders.h"
#include "ptx/opcode.h"

namespace barracuda::emulator {
namespace {

using ptx::ScalarType;

// What a reduction takes the elements of a map for.
constexpr std::array<ScalarType, kTensorElementCount> kScalars{
    ScalarType::kU8,  ScalarType::kU16, ScalarType::kU32, ScalarType::kS32, ScalarType::kU64,
    ScalarType::kS64, ScalarType::kF16, ScalarType::kF32, ScalarType::kF64, ScalarType::kBf16,
    ScalarType::kF32, ScalarType::kF32, ScalarType::kF32};

}  // namespace

// cp.async.bulk.tensor.Nd.TO.FROM and cp.reduce.async.bulk.tensor.Nd.TO.FROM:
// [shared], [map, {coordinates}], [mbarrier] [, {offsets}] [, CTA mask] [, cache policy]
// [map, {coordinates}], [shared] [, cache policy]
void decode_tensor_copy(CodeEmitter& code, const ptx::Instruction& instruction,
                        const ptx::Effect& effect) {
  const auto operand = [&](int at) -> const ptx::Operand& {
    return instruction.operands[static_cast<std::size_t>(at)];
  };
  const bool loads = ptx::loads_tensor(effect);
  const ptx::Operand& tensor = operand(ptx::tensor_operand(effect));
  ptx::Operand map = tensor;
  map.elements.resize(1);
  auto copy = std::make_shared<TensorOperands>();
  if (!bind_place(code, map, ptx::StateSpace::kGeneric, copy->map) ||
      !bind_place(code, operand(ptx::tensor_shared_operand(effect)), ptx::StateSpace::kShared,
                  copy->shared) ||
      (loads && !bind_place(code, operand(effect.mbarrier_operand), ptx::StateSpace::kShared,
                            copy->mbarrier))) {
    return;
  }
  for (const ptx::Operand& coordinate : tensor.elements[1].elements) {
    copy->coordinates.at(copy->rank++) = code.source(coordinate, ScalarType::kS32);
  }
  if (effect.mask_operand >= 0) {
    copy->ctas = code.source(operand(effect.mask_operand), ScalarType::kU16);
  }
  copy->is_im2col = instruction.has(Modifier::kIm2col) || instruction.has(Modifier::kIm2colNoOffs);
  if (effect.offsets_operand >= 0) {
    for (const ptx::Operand& offset : operand(effect.offsets_operand).elements) {
      copy->offsets.at(copy->offset_count++) = code.source(offset, ScalarType::kU16);
    }
  }
  copy->reduces = instruction.has(Modifier::kReduce);
  for (std::size_t i = 0; copy->reduces && i < kScalars.size(); ++i) {
    copy->reductions.at(i) = select_reduction(read_form(instruction), kScalars.at(i));
  }
  code.emit(loads ? &execute_tensor_load : &execute_tensor_store, std::move(copy));
}

}  // namespace barracuda::emulator
