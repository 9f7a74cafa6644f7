#include "emulator/state/tensor_memory.h"

#include <algorithm>

#include "base/assert.h"

namespace barracuda::emulator {

std::optional<std::uint32_t> TensorMemory::allocate(std::uint32_t columns) {
  ASSERT(can_allocate(columns));
  const std::uint32_t pieces = columns / kLeastColumns;
  for (std::uint32_t first = 0; first + pieces <= kPieces; ++first) {
    if (is_any_used(first, pieces)) {
      continue;
    }
    for (std::uint32_t piece = first; piece < first + pieces; ++piece) {
      used_.set(piece);
    }
    begun_[first] = pieces;
    for (std::uint32_t row = 0; row < kRows; ++row) {
      std::fill_n(at(row, first * kLeastColumns), columns, kUnwritten);
    }
    return first * kLeastColumns;
  }
  return std::nullopt;
}

bool TensorMemory::free(std::uint32_t column, std::uint32_t columns) {
  const std::uint32_t first = column / kLeastColumns, pieces = columns / kLeastColumns;
  if (!can_allocate(columns) || column % kLeastColumns != 0 || first >= kPieces ||
      begun_[first] != pieces) {
    return false;
  }
  begun_[first] = 0;
  for (std::uint32_t piece = first; piece < first + pieces; ++piece) {
    used_.reset(piece);
  }
  return true;
}

bool TensorMemory::is_allocated(std::uint32_t column, std::uint32_t columns) const {
  if (columns == 0 || columns > kColumns || column > kColumns - columns) {
    return false;
  }
  for (std::uint32_t piece = column / kLeastColumns; piece * kLeastColumns < column + columns;
       ++piece) {
    if (!used_.test(piece)) {
      return false;
    }
  }
  return true;
}

bool TensorMemory::is_any_used(std::uint32_t first, std::uint32_t pieces) const {
  for (std::uint32_t piece = first; piece < first + pieces; ++piece) {
    if (used_.test(piece)) {
      return true;
    }
  }
  return false;
}

}  // namespace barracuda::emulator
