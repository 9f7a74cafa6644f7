// The tensor memory of a CTA (PTX ISA, "Tensor Memory"): 128 rows, which the ISA calls lanes, of
// 512 columns of 32 bits. A row belongs to the warps of one number modulo four. Every CTA has all
// of it, as if it were alone on its SM.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace barracuda::emulator {

// Of 32 bits: the row in the high half, the column in the low one.
struct TensorAddress {
  std::uint32_t row = 0, column = 0;

  static constexpr TensorAddress of(std::uint32_t bits) {
    return {.row = bits >> 16, .column = bits & 0xFFFF};
  }
};

class TensorMemory {
 public:
  static constexpr std::uint32_t kRows = 128, kColumns = 512;
  static constexpr std::uint32_t kLeastColumns = 32;  // that are allocated

  // What an allocation holds before it is written: no number.
  static constexpr std::uint32_t kUnwritten = 0xFFFFFFFF;

  static constexpr bool can_allocate(std::uint32_t columns) {
    return columns >= kLeastColumns && columns <= kColumns && (columns & (columns - 1)) == 0;
  }

  // The first column, of all rows. Nothing: there is no room.
  std::optional<std::uint32_t> allocate(std::uint32_t columns);
  // False: this was not allocated.
  bool free(std::uint32_t column, std::uint32_t columns);

  // All rows of these columns are.
  [[nodiscard]] bool is_allocated(std::uint32_t column, std::uint32_t columns) const;

  // The words of a row from a column on.
  [[nodiscard]] std::uint32_t* at(std::uint32_t row, std::uint32_t column) {
    return words_.data() + std::size_t{row} * kColumns + column;
  }

 private:
  [[nodiscard]] bool is_any_used(std::uint32_t first, std::uint32_t pieces) const;

  static constexpr std::uint32_t kPieces = kColumns / kLeastColumns;

  std::bitset<kPieces> used_;
  std::array<std::uint32_t, kPieces> begun_{};  // by the piece that begins it: how many it has
  std::array<std::uint32_t, std::size_t{kRows} * kColumns> words_{};
};

}  // namespace barracuda::emulator
