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

// How many elements a row has, and the bytes of these alone: padding behind them is not touched.
struct Rows {
  std::uint32_t of_matrix = 0;
  std::uint8_t element_bytes = 1, element_count = 16;
};

// What of the forms that the manual has is said by shape and types. Transposed or not, of a load
// lane l has the address of a row, of a store that it transposes the one of a column.
std::optional<Rows> rows_of(const Instruction& instruction) {
  const bool has_bytes = instruction.has(Modifier::kB8), trans = instruction.has(Modifier::kTrans);
  const bool loads = instruction.opcode == Opcode::kLdmatrix;
  if (instruction.has(Modifier::kM8n8) && instruction.has(Modifier::kB16)) {
    return Rows{.of_matrix = 8, .element_bytes = 2, .element_count = 8};
  }
  if (instruction.has(Modifier::kM16n8) && !loads && has_bytes && trans) {
    return Rows{.of_matrix = 8};
  }
  const std::uint32_t rows = instruction.has(Modifier::kM16n16) && trans   ? 16
                             : instruction.has(Modifier::kM8n16) && !trans ? 8
                                                                           : 0;
  if (!loads || rows == 0) {
    return std::nullopt;
  }
  if (instruction.has(Modifier::kB8x16)) {
    return instruction.has(Modifier::kB4x16P64)
               ? std::optional(Rows{.of_matrix = rows, .element_count = 8})
           : instruction.has(Modifier::kB6x16P32)
               ? std::optional(Rows{.of_matrix = rows, .element_count = 12})
               : std::nullopt;
  }
  return has_bytes && rows == 16 ? std::optional(Rows{.of_matrix = rows}) : std::nullopt;
}

// ldmatrix, stmatrix: the first lanes have the addresses of the rows of the first matrix, and so
// on.
std::optional<MatrixLayout> read_rows(const Instruction& instruction) {
  const auto rows = rows_of(instruction);
  const std::uint32_t matrices = instruction.has(Modifier::kX4)   ? 4
                                 : instruction.has(Modifier::kX2) ? 2
                                 : instruction.has(Modifier::kX1) ? 1
                                                                  : 0;
  if (!rows || matrices == 0 || rows->of_matrix * matrices > kLanes) {
    return std::nullopt;
  }
  return MatrixLayout{.lanes = rows->of_matrix * matrices,
                      .element_bytes = rows->element_bytes,
                      .element_count = rows->element_count};
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
