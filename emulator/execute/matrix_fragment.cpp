#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "emulator/execute/matrix.h"

namespace barracuda::emulator {

namespace {

struct ElementPlace {
  std::uint32_t row = 0, column = 0;
};

// PTX ISA, "Matrix fragments for mma": lanes in eight groups of four; a register holds consecutive
// elements along k (or along n, of an accumulator).
ElementPlace place_in_mma(MatrixRole role, std::uint32_t lane, std::uint32_t number,
                          std::uint32_t part, std::uint32_t parts, std::uint32_t rows) {
  const std::uint32_t group = lane / 4, member = lane % 4;
  const std::uint32_t along = member * parts + part;
  if (role == MatrixRole::kB) {
    return {.row = along + 4 * parts * number, .column = group};
  }
  if (role == MatrixRole::kA) {
    const std::uint32_t halves = rows / 8;
    return {.row = group + 8 * (number % halves), .column = along + 4 * parts * (number / halves)};
  }
  // Two neighbours in a row: in one register, or in two. Behind those of eight columns come those
  // of the next eight.
  const std::uint32_t neighbour = number * parts + part, halves = rows / 8;
  const std::uint32_t pair = neighbour / 2;
  return {.row = group + 8 * (pair % halves),
          .column = 8 * (pair / halves) + member * 2 + neighbour % 2};
}

}  // namespace

std::uint32_t element_bits(MatrixElement element) {
  switch (element) {
    case MatrixElement::kF16:
    case MatrixElement::kBf16:
      return 16;
    case MatrixElement::kTf32:
    case MatrixElement::kF32:
    case MatrixElement::kS32:
      return 32;
    case MatrixElement::kF64:
      return 64;
    case MatrixElement::kE4m3:
    case MatrixElement::kE5m2:
    case MatrixElement::kE3m2:
    case MatrixElement::kE2m3:
    case MatrixElement::kE2m1:
    case MatrixElement::kS8:
    case MatrixElement::kU8:
      return 8;
    case MatrixElement::kPackedE2m1:
    case MatrixElement::kS4:
    case MatrixElement::kU4:
      return 4;
    case MatrixElement::kB1:
      return 1;
  }
  return 32;
}

namespace {

// All but which element lies where.
MatrixFragment fragment_of(MatrixElement element, const std::array<std::uint32_t, 2>& size,
                           std::vector<Slot> slots) {
  MatrixFragment fragment;
  fragment.element = element;
  fragment.rows = size[0];
  fragment.columns = size[1];
  fragment.parts = element == MatrixElement::kF64 ? 1 : 32 / element_bits(element);
  fragment.slots = std::move(slots);
  return fragment;
}

}  // namespace

bool MatrixFragment::is_valid() const {
  return elements.size() == slots.size() * kLanes * parts &&
         std::ranges::all_of(elements,
                             [this](std::uint16_t place) { return place < rows * columns; });
}

MatrixFragment mma_fragment(MatrixRole role, MatrixElement element,
                            const std::array<std::uint32_t, 2>& size, std::vector<Slot> slots) {
  MatrixFragment fragment = fragment_of(element, size, std::move(slots));
  for (std::uint32_t number = 0; number < fragment.slots.size(); ++number) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      for (std::uint32_t part = 0; part < fragment.parts; ++part) {
        const ElementPlace place =
            place_in_mma(role, lane, number, part, fragment.parts, fragment.rows);
        fragment.elements.push_back(
            static_cast<std::uint16_t>(place.row * fragment.columns + place.column));
      }
    }
  }
  return fragment;
}

MatrixFragment wmma_fragment(MatrixElement element, const std::array<std::uint32_t, 2>& size,
                             std::vector<Slot> slots, bool by_columns) {
  MatrixFragment fragment = fragment_of(element, size, std::move(slots));
  // Where a lane has more places than elements, it has them twice.
  const std::uint32_t of_lane = fragment.rows * fragment.columns / kLanes;
  ASSERT(of_lane != 0);
  for (std::uint32_t number = 0; number < fragment.slots.size(); ++number) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      for (std::uint32_t part = 0; part < fragment.parts; ++part) {
        const std::uint32_t place = lane * of_lane + (number * fragment.parts + part) % of_lane;
        fragment.elements.push_back(static_cast<std::uint16_t>(
            by_columns ? place % fragment.rows * fragment.columns + place / fragment.rows : place));
      }
    }
  }
  return fragment;
}

}  // namespace barracuda::emulator
