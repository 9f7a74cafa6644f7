#include "ptx/matrix_layout.h"

#include <bit>

#include "ptx/matrix_shape.h"

namespace barracuda::ptx {
namespace {

constexpr std::uint32_t kLanes = 32;
constexpr std::uint32_t kMostBytes = 64;  // of a lane, in one record

std::uint32_t element_bits_of(const Instruction& instruction) {
  for (const Modifier modifier : instruction.modifiers) {
    if (modifier == Modifier::kB1) {
      return 1;
    }
    if (modifier == Modifier::kS4 || modifier == Modifier::kU4) {
      return 4;
    }
    if (const std::uint32_t bytes = size_of(type_of(modifier)); bytes != 0) {
      return 8 * bytes;
    }
  }
  return 0;
}

// ldmatrix, stmatrix: lane l of the first 8, 16 or 32 has the address of row l % 8 of matrix l / 8.
std::optional<MatrixLayout> read_rows(const Instruction& instruction) {
  if (!instruction.has(Modifier::kM8n8) || !instruction.has(Modifier::kB16)) {
    return std::nullopt;
  }
  const std::uint32_t matrices = instruction.has(Modifier::kX4)   ? 4
                                 : instruction.has(Modifier::kX2) ? 2
                                 : instruction.has(Modifier::kX1) ? 1
                                                                  : 0;
  if (matrices == 0) {
    return std::nullopt;
  }
  return MatrixLayout{.lanes = 8 * matrices, .element_bytes = 2, .element_count = 8};
}

std::optional<MatrixLayout> read_lines(const Instruction& instruction) {
  const auto shape = matrix_shape(instruction);
  const std::uint32_t bits = element_bits_of(instruction);
  const bool by_rows = instruction.has(Modifier::kRow);
  if (!shape || bits == 0 || by_rows == instruction.has(Modifier::kCol)) {
    return std::nullopt;
  }
  const std::uint32_t rows = instruction.has(Modifier::kB) ? shape->k : shape->m;
  const std::uint32_t columns = instruction.has(Modifier::kA) ? shape->k : shape->n;
  const std::uint32_t lines = by_rows ? rows : columns;
  const std::uint32_t line_elements = by_rows ? columns : rows;
  const std::uint32_t bytes = lines * line_elements * bits / 8;
  if (!std::has_single_bit(lines) || !std::has_single_bit(line_elements) || lines > kLanes ||
      bytes < kLanes || bytes > kLanes * kMostBytes) {
    return std::nullopt;
  }
  const std::uint32_t piece = bytes / kLanes;
  const std::uint32_t element_bytes = bits < 8 ? 1 : bits / 8;
  if (piece < element_bytes) {
    return std::nullopt;
  }
  return MatrixLayout{
      .element_bytes = static_cast<std::uint8_t>(element_bytes),
      .element_count = static_cast<std::uint8_t>(piece / element_bytes),
      .has_lines = true,
      .lanes_of_line_log2 = static_cast<std::uint32_t>(std::countr_zero(kLanes / lines)),
      .element_bits = bits,
      .line_elements = line_elements,
      .stride_operand = instruction.operands.size() > 2 ? 2 : -1};
}

}  // namespace

std::optional<MatrixLayout> read_matrix_layout(const Instruction& instruction) {
  return instruction.opcode == Opcode::kWmma ? read_lines(instruction) : read_rows(instruction);
}

}  // namespace barracuda::ptx
