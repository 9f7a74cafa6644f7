// Which bytes the lanes of a matrix load or store touch. Every lane that takes part has one piece,
// of a power of two of bytes, or of the 12 that are 16 elements of six bits; together the pieces
// are exactly the bytes of the matrix, each once.
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/module.h"

namespace barracuda::ptx {

struct MatrixLayout {
  std::uint32_t lanes = 32;                           // the first ones of the warp take part
  std::uint8_t element_bytes = 0, element_count = 0;  // of a lane's piece
  // wmma: the matrix lies in lines, `stride` elements apart; neighbouring lanes share a line.
  // ldmatrix and stmatrix have an address a lane: no lines.
  bool has_lines = false;
  std::uint32_t lanes_of_line_log2 = 0;
  std::uint32_t element_bits = 0;
  std::uint32_t line_elements = 0;  // the stride where none is written
  int stride_operand = -1;
};

// Nothing for forms that are not known.
std::optional<MatrixLayout> read_matrix_layout(const Instruction& instruction);

}  // namespace barracuda::ptx
