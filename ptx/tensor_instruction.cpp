#include "ptx/tensor_instruction.h"

#include <array>
#include <utility>

namespace barracuda::ptx {
namespace {

using wire::TensorKind;

std::optional<TensorKind> kind_of(const Instruction& instruction) {
  constexpr std::array kKinds{
      std::pair{Modifier::kKindF16, TensorKind::kF16},
      std::pair{Modifier::kKindTf32, TensorKind::kTf32},
      std::pair{Modifier::kKindF8f6f4, TensorKind::kF8f6f4},
      std::pair{Modifier::kKindI8, TensorKind::kI8},
      std::pair{Modifier::kKindMxf8f6f4, TensorKind::kMxf8f6f4},
      std::pair{Modifier::kKindMxf4, TensorKind::kMxf4},
      std::pair{Modifier::kKindMxf4nvf4, TensorKind::kMxf4},
  };
  for (const auto& [modifier, kind] : kKinds) {
    if (instruction.has(modifier)) {
      return kind;
    }
  }
  return std::nullopt;
}

bool is_value(const Instruction& instruction, int operand) {
  const auto at = static_cast<std::size_t>(operand);
  return at < instruction.operands.size() &&
         (instruction.operands[at].kind == Operand::Kind::kRegister ||
          instruction.operands[at].kind == Operand::Kind::kInteger);
}

bool is_address(const Instruction& instruction, int operand) {
  const auto at = static_cast<std::size_t>(operand);
  return at < instruction.operands.size() &&
         instruction.operands[at].kind == Operand::Kind::kAddress;
}

// tcgen05.cp.cta_group::1.SHAPE{.multicast} [to], descriptor. Rows, and of each 16 bytes or 32.
std::optional<TensorInstruction> read_copy(const Instruction& instruction) {
  struct Shape {
    Modifier modifier{};
    std::uint32_t rows = 0, row_bytes = 0;
  };

  constexpr std::array kShapes{
      Shape{.modifier = Modifier::k128x256b, .rows = 128, .row_bytes = 32},
      Shape{.modifier = Modifier::k4x256b, .rows = 4, .row_bytes = 32},
      Shape{.modifier = Modifier::k128x128b, .rows = 128, .row_bytes = 16},
      Shape{.modifier = Modifier::k64x128b, .rows = 64, .row_bytes = 16},
      Shape{.modifier = Modifier::k32x128b, .rows = 32, .row_bytes = 16},
  };
  const bool unpacks = instruction.has(Modifier::kB6x16P32) || instruction.has(Modifier::kB4x16P64);
  for (const Shape& shape : kShapes) {
    if (instruction.has(shape.modifier) && !unpacks && is_address(instruction, 0) &&
        is_value(instruction, 1)) {
      return TensorInstruction{
          .reads = {.kind = TensorKind::kCopy, .rows = shape.rows, .row_bytes = shape.row_bytes},
          .a = 1};
    }
  }
  return std::nullopt;
}

}  // namespace

// tcgen05.mma{.sp}.cta_group::1.KIND… [d], a-descriptor | [a], b-descriptor, {[metadata],} shape,
// {[scales of a], [scales of b],} {{lanes that are left out},} adds {, scale of d}
std::optional<TensorInstruction> read_tensor_instruction(const Instruction& instruction) {
  if (!instruction.has(Modifier::kCtaGroup1) || instruction.has(Modifier::kWs)) {
    return std::nullopt;
  }
  if (instruction.has(Modifier::kCp)) {
    return read_copy(instruction);
  }
  const auto kind = kind_of(instruction);
  if (!kind || !is_address(instruction, 0) || !is_value(instruction, 2)) {
    return std::nullopt;
  }
  TensorInstruction read{.reads = {.kind = *kind,
                                   .has_tensor_memory = is_address(instruction, 1),
                                   .is_sparse = instruction.has(Modifier::kSp)},
                         .a = is_address(instruction, 1) ? -1 : 1,
                         .b = 2};
  read.shape = read.reads.is_sparse ? 4 : 3;
  read.adds = read.shape + (wire::is_block_scaled(*kind) ? 3 : 1);
  const auto adds = static_cast<std::size_t>(read.adds);
  if (adds < instruction.operands.size() &&
      instruction.operands[adds].kind == Operand::Kind::kVector) {
    ++read.adds;
  }
  const bool is_good = (read.a < 0 || is_value(instruction, read.a)) &&
                       (!read.reads.is_sparse || is_address(instruction, 3)) &&
                       is_value(instruction, read.shape) && is_value(instruction, read.adds);
  return is_good ? std::optional(read) : std::nullopt;
}

}  // namespace barracuda::ptx
