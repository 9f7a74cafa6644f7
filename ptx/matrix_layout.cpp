#include "ptx/matrix_layout.h"

#include <array>
#include <bit>
#include <string_view>

#include "ptx/matrix_shape.h"

namespace barracuda::ptx {
namespace {

constexpr std::uint32_t kLanes = 32;
constexpr std::uint32_t kMostBytes = 64;  // of a lane, in one record

std::uint32_t element_bits_of(const Instruction& instruction) {
  for (const std::string_view modifier : instruction.modifiers) {
    if (modifier == "b1") {
      return 1;
    }
    if (modifier == "s4" || modifier == "u4") {
      return 4;
    }
    if (const std::uint32_t bytes = size_of(parse_scalar_type(modifier)); bytes != 0) {
      return 8 * bytes;
    }
  }
  return 0;
}

// ldmatrix, stmatrix: lane l of the first 8, 16 or 32 has the address of row l % 8 of matrix l / 8.
std::optional<MatrixLayout> read_rows(const Instruction& instruction) {
  if (!instruction.has("m8n8") || !instruction.has("b16")) {
    return std::nullopt;
  }
  const std::uint32_t matrices = instruction.has("x4")   ? 4
                                 : instruction.has("x2") ? 2
                                 : instruction.has("x1") ? 1
                                                         : 0;
  if (matrices == 0) {
    return std::nullopt;
  }
  return MatrixLayout{.lanes = 8 * matrices, .element_bytes = 2, .element_count = 8};
}

std::optional<MatrixLayout> read_lines(const Instruction& instruction) {
  const auto shape = matrix_shape(instruction);
  const std::uint32_t bits = element_bits_of(instruction);
  const bool by_rows = instruction.has("row");
  if (!shape || bits == 0 || by_rows == instruction.has("col")) {
    return std::nullopt;
  }
  const std::uint32_t rows = instruction.has("b") ? shape->k : shape->m;
  const std::uint32_t columns = instruction.has("a") ? shape->k : shape->n;
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
  return instruction.opcode == "wmma" ? read_lines(instruction) : read_rows(instruction);
}

}  // namespace barracuda::ptx
