// What a matrix product makes of its first operands before it multiplies: of a sparse A the zeros
// that it leaves out, of block-scaled ones the scales of their rows and columns.
#pragma once

#include <cstdint>

#include "emulator/execute/matrix_element.h"
#include "emulator/state/context.h"

namespace barracuda::emulator {

// Of a sparse A of 16 rows half of the elements are stored, and four bits of metadata for each
// group of 2 of 4 elements of a row say which (1 of 2 of tf32; 2 of 4 pairs where two make a byte).
// PTX ISA, "Sparse matrix storage"; which lane has whose metadata was tried out on an H100.
struct Sparsity {
  Slot metadata = kNoSlot;     // none: A is dense
  std::uint32_t selector = 0;  // which lanes of four have it, where not all of them
};

// Whether there is a layout of the metadata of rows of so many elements, zeros included.
bool is_known_sparsity(MatrixElement element, std::uint32_t depth, std::uint32_t selector);

// Both row by row: `stored` of depth / 2, `whole` of depth.
void expand(const Context& c, const Sparsity& sparsity, MatrixElement element, std::uint32_t depth,
            const double* stored, double* whole);

// A scale for each part of `parts` equal ones of a row of A, or of a column of B.
struct BlockScales {
  Slot words = kNoSlot;  // none: there are no scales
  Slot byte = kNoSlot, thread = kNoSlot;
  std::uint32_t parts = 1;
  bool is_exponent = true;  // ue8m0, else ue4m3
};

// A is row by row, of 16 rows; B, of 8 columns, as well.
void scale_rows(const Context& c, const BlockScales& scales, std::uint32_t depth, double* a);
void scale_columns(const Context& c, const BlockScales& scales, std::uint32_t depth, double* b);

}  // namespace barracuda::emulator
