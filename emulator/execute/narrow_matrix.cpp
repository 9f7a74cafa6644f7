#include "emulator/execute/narrow_matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/execute/fp8.h"
#include "emulator/execute/lanes/lanes.h"

namespace barracuda::emulator {

using baseline::source;

namespace {

constexpr std::uint32_t kRows = 16;
constexpr std::uint32_t kGroupBits = 4;  // of metadata

// Of a group of metadata: how many elements are stored.
std::uint32_t stored_in_group(MatrixElement element) {
  const std::uint32_t bits = element_bits(element);
  return bits == 32 ? 1 : bits == 4 ? 4 : 2;
}

std::uint32_t row_bits(MatrixElement element, std::uint32_t depth) {
  return depth / (2 * stored_in_group(element)) * kGroupBits;
}

// Of the group of the row: the lane that has the metadata, and where in its word.
struct MetadataPlace {
  std::uint32_t lane = 0, shift = 0;
};

// Elements of two and four bytes: a word has the same groups of row g and of row g + 8. Narrower
// ones: a lane has one row alone.
MetadataPlace metadata_place(MatrixElement element, std::uint32_t of_row, std::uint32_t selector,
                             std::uint32_t row, std::uint32_t group) {
  const std::uint32_t first = row % 8 * 4, half = row / 8;
  if (element_bits(element) >= 16) {
    return of_row == 16
               ? MetadataPlace{.lane = first + selector, .shift = 16 * half + kGroupBits * group}
               : MetadataPlace{.lane = first + 2 * selector + group / 4,
                               .shift = 16 * half + kGroupBits * (group % 4)};
  }
  return of_row == 32
             ? MetadataPlace{.lane = first + 2 * selector + half, .shift = kGroupBits * group}
             : MetadataPlace{.lane = first + half + group / 8 * 2,
                             .shift = kGroupBits * (group % 8)};
}

// Where in the group element `number` of those that are stored belongs.
std::uint32_t place_in_group(MatrixElement element, std::uint32_t metadata, std::uint32_t number) {
  switch (stored_in_group(element)) {
    case 1:
      return metadata >> 1 & 1;  // 0b0100 or 0b1110: of halves the lower two, or the upper two
    case 4:
      return (metadata >> (number / 2 * 2) & 3) * 2 + number % 2;
    default:
      return metadata >> (number * 2) & 3;
  }
}

double scale_of(const BlockScales& scales, std::uint32_t word, std::uint32_t byte) {
  const std::uint32_t bits = word >> (8 * byte) & 0xFF;
  if (!scales.is_exponent) {
    return static_cast<double>(from_e4m3(static_cast<std::uint8_t>(bits & 0x7F)));
  }
  return bits == 0xFF ? std::numeric_limits<double>::quiet_NaN()
                      : std::ldexp(1.0, static_cast<int>(bits) - 127);
}

// What lane 0 says of them counts for all, as the manual wants it the same in all.
std::uint32_t of_warp(const Context& c, Slot slot) {
  return source<std::uint16_t>(c, slot)[0];
}

}  // namespace

bool is_known_sparsity(MatrixElement element, std::uint32_t depth, std::uint32_t selector) {
  const std::uint32_t of_row = row_bits(element, depth);
  if (element_bits(element) >= 16) {
    return (of_row == 16 && selector < 4) || (of_row == 32 && selector < 2);
  }
  return (of_row == 32 && selector < 2) || (of_row == 64 && selector == 0);
}

void expand(const Context& c, const Sparsity& sparsity, MatrixElement element, std::uint32_t depth,
            const double* stored, double* whole) {
  const auto* words = source<std::uint32_t>(c, sparsity.metadata);
  const std::uint32_t of_group = stored_in_group(element), of_row = row_bits(element, depth);
  std::fill_n(whole, std::size_t{kRows} * depth, 0.0);
  for (std::uint32_t row = 0; row < kRows; ++row) {
    double* const to = whole + std::size_t{row} * depth;
    for (std::uint32_t group = 0; group < of_row / kGroupBits; ++group) {
      const MetadataPlace place = metadata_place(element, of_row, sparsity.selector, row, group);
      const std::uint32_t metadata = words[place.lane] >> place.shift & 15;
      for (std::uint32_t number = 0; number < of_group; ++number) {
        to[group * 2 * of_group + place_in_group(element, metadata, number)] += *stored++;
      }
    }
  }
}

void scale_rows(const Context& c, const BlockScales& scales, std::uint32_t depth, double* a) {
  const auto* words = source<std::uint32_t>(c, scales.words);
  const std::uint32_t byte = of_warp(c, scales.byte), pair = of_warp(c, scales.thread) % 2;
  for (std::uint32_t row = 0; row < kRows; ++row) {
    const std::uint32_t word = words[row % 8 * 4 + pair * 2 + row / 8];
    for (std::uint32_t k = 0; k < depth; ++k) {
      *a++ *= scale_of(scales, word, (byte + k * scales.parts / depth) % 4);
    }
  }
}

void scale_columns(const Context& c, const BlockScales& scales, std::uint32_t depth, double* b) {
  const auto* words = source<std::uint32_t>(c, scales.words);
  const std::uint32_t byte = of_warp(c, scales.byte), lane = of_warp(c, scales.thread) % 4;
  constexpr std::uint32_t kColumns = 8;
  for (std::uint32_t k = 0; k < depth; ++k) {
    for (std::uint32_t column = 0; column < kColumns; ++column) {
      *b++ *= scale_of(scales, words[column * 4 + lane], (byte + k * scales.parts / depth) % 4);
    }
  }
}

}  // namespace barracuda::emulator
