// wgmma.
#include "emulator/execute/warpgroup.h"

#include "emulator/decode/decoders.h"
#include "emulator/decode/matrix_elements.h"
#include "emulator/execute/control.h"

namespace barracuda::emulator {

using ptx::ScalarType;

namespace {

// The elements of A and B that there are, with the sums that they may have.
bool is_known(MatrixElement sum, MatrixElement a, MatrixElement b) {
  switch (a) {
    case MatrixElement::kF16:
      return b == a && (sum == MatrixElement::kF32 || sum == MatrixElement::kF16);
    case MatrixElement::kBf16:
    case MatrixElement::kTf32:
      return b == a && sum == MatrixElement::kF32;
    case MatrixElement::kE4m3:
    case MatrixElement::kE5m2:
      return (b == MatrixElement::kE4m3 || b == MatrixElement::kE5m2) &&
             (sum == MatrixElement::kF32 || sum == MatrixElement::kF16);
    case MatrixElement::kS8:
    case MatrixElement::kU8:
      return (b == MatrixElement::kS8 || b == MatrixElement::kU8) && sum == MatrixElement::kS32;
    case MatrixElement::kB1:
      return b == a && sum == MatrixElement::kS32;
    case MatrixElement::kF32:
    case MatrixElement::kF64:
    case MatrixElement::kE3m2:
    case MatrixElement::kE2m3:
    case MatrixElement::kE2m1:
    case MatrixElement::kPackedE2m1:
    case MatrixElement::kS4:
    case MatrixElement::kU4:
    case MatrixElement::kS32:
      return false;
  }
  return false;
}

// Of a sparse product: false, and the instruction is refused, if its metadata are of no known form.
bool bind_sparsity(CodeEmitter& code, const ptx::Instruction& instruction,
                   WarpgroupOperands& operands) {
  const ptx::WarpgroupProduct& product = operands.product;
  if (!is_known_sparsity(operands.a_element, product.depth, product.selector)) {
    code.refuse("metadata of this form");
    return false;
  }
  operands.sparsity = {
      .metadata = code.source(instruction.operands[ptx::kProductMetadata], ScalarType::kB32),
      .selector = product.selector};
  return code.refusal().empty();
}

// wgmma.mma_async[.sp].sync.aligned.SHAPE.D.A.B d, a | a-descriptor, b-descriptor[, metadata,
// selector], scale-d, …
void decode_warpgroup_product(CodeEmitter& code, const ptx::Instruction& instruction) {
  const auto product = ptx::read_warpgroup_product(instruction);
  const auto elements = elements_in(instruction);
  const bool has_bits = elements.size() == 3 && elements[1] == MatrixElement::kB1;
  if (!product || elements.size() != 3 || has_bits != instruction.has(Modifier::kAnd) ||
      !is_known(elements[0], elements[1], elements[2]) ||
      product->depth * element_bits(elements[1]) != product->shape.rows_of_b().depth_bytes * 8) {
    code.refuse("this product of a warpgroup");
    return;
  }
  auto operands = std::make_shared<WarpgroupOperands>();
  operands->product = *product;
  operands->a_element = elements[1];
  operands->b = elements[2];
  operands->saturates = instruction.has(Modifier::kSatfinite);
  if (product->shape.is_sparse && !bind_sparsity(code, instruction, *operands)) {
    return;
  }
  const auto& written = instruction.operands;
  const auto& scale = written[ptx::product_scale(product->shape.is_sparse)];
  if (scale.kind == ptx::Operand::Kind::kInteger) {
    operands->always_adds = scale.bits != 0;
  } else {
    operands->adds = code.source(scale, ScalarType::kPred);
  }
  std::vector<Slot> a, read, sums;
  if (product->shape.has_registers) {
    if (!bind_registers(code, written[ptx::kProductA], ScalarType::kB32, false, a)) {
      return;
    }
  } else {
    operands->a_descriptor = code.source(written[ptx::kProductA], ScalarType::kB64);
  }
  operands->b_descriptor = code.source(written[ptx::kProductB], ScalarType::kB64);
  // The sums are read and written; of registers of their own size both are the same.
  if (!code.refusal().empty() ||
      !bind_registers(code, written[ptx::kProductSums], ScalarType::kB32, false, read) ||
      !bind_registers(code, written[ptx::kProductSums], ScalarType::kB32, true, sums)) {
    return;
  }
  const std::size_t of_sums = std::size_t{wire::kWarpRows} * product->shape.columns *
                              element_bits(elements[0]) / 32 / kLanes;
  if (read != sums || sums.size() != of_sums || (product->shape.has_registers && a.size() != 4)) {
    code.refuse("the number of registers");
    return;
  }
  operands->d = mma_fragment(MatrixRole::kAccumulator, elements[0],
                             {wire::kWarpRows, product->shape.columns}, std::move(sums));
  if (product->shape.has_registers) {
    const std::uint32_t stored = wire::kDepthBytes * 8 / element_bits(elements[1]);
    operands->a =
        mma_fragment(MatrixRole::kA, elements[1], {wire::kWarpRows, stored}, std::move(a));
  }
  if (!operands->d.is_valid() || !operands->a.is_valid()) {
    code.refuse("this product of a warpgroup");  // no compiler makes it
    return;
  }
  code.emit(Instruction{.handler = &execute_warpgroup_product,
                        .flags = static_cast<std::uint8_t>(Place::kShared)},
            std::move(operands));
}

}  // namespace

// wgmma.wait_group.sync.aligned n
void decode_warpgroup(CodeEmitter& code, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (instruction.has(Modifier::kFence)) {
    code.emit(&execute_nothing);
  } else if (instruction.has(Modifier::kCommitGroup)) {
    code.emit(&execute_warpgroup_commit);
  } else if (!instruction.has(Modifier::kWaitGroup)) {
    decode_warpgroup_product(code, instruction);
  } else if (operands.size() != 1 || operands[0].kind != ptx::Operand::Kind::kInteger) {
    code.refuse("operands");
  } else {
    code.emit(&execute_warpgroup_wait).immediate = static_cast<std::int64_t>(operands[0].bits);
  }
}

}  // namespace barracuda::emulator
