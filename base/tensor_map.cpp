#include "base/tensor_map.h"

#include <algorithm>

#include "base/assert.h"

namespace barracuda {
namespace {

constexpr std::uint64_t kAlignment = 16;
constexpr std::uint16_t kMaxBox = 256;
constexpr std::uint8_t kMaxStep = 8;
constexpr std::uint16_t kMaxPixels = 1024;
constexpr std::uint32_t kLeastPixelRank = 3;  // channels, width, images
constexpr std::uint64_t kMaxStride = std::uint64_t{1} << 40;

std::uint32_t span_of(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::kNone:
      break;
    case TensorSwizzle::k32Bytes:
      return 32;
    case TensorSwizzle::k64Bytes:
      return 64;
    case TensorSwizzle::k128Bytes:
      return 128;
  }
  return 0;
}

// Steps from `first`, none of which is behind `last`, and the first itself.
std::uint64_t places_from(std::int64_t first, std::int64_t last, std::uint8_t step) {
  return first > last ? 1 : static_cast<std::uint64_t>(last - first) / step + 1;
}

// The place in each dimension but that of the channels: width is the fastest, and what has gone
// beyond the box of pixels begins anew and moves the next one.
std::array<std::int64_t, kMaxTensorRank> place_of_pixel(const TensorMap& map,
                                                        const TensorCoordinates& at,
                                                        std::uint32_t pixel) {
  std::array<std::int64_t, kMaxTensorRank> place{};
  std::uint64_t rest = pixel;
  for (std::size_t i = 1; i + 1 < map.rank; ++i) {
    const std::int64_t lower = map.lower[i - 1];
    const std::int64_t upper = std::int64_t{map.last[i]} + map.upper[i - 1];
    const std::uint64_t before_turn = places_from(at[i], upper, map.steps[i]);
    if (rest < before_turn) {
      place[i] = at[i] + static_cast<std::int64_t>(rest * map.steps[i]);
      rest = 0;
      continue;
    }
    rest -= before_turn;
    const std::uint64_t in_turn = places_from(lower, upper, map.steps[i]);
    place[i] = lower + static_cast<std::int64_t>(rest % in_turn * map.steps[i]);
    rest = 1 + rest / in_turn;
  }
  const std::size_t images = map.rank - std::size_t{1};
  place[images] = at[images] + static_cast<std::int64_t>(rest * map.steps[images]);
  return place;
}

std::array<std::int64_t, kMaxTensorRank> place_of_row(const TensorMap& map,
                                                      const TensorCoordinates& at,
                                                      std::uint32_t row) {
  std::array<std::int64_t, kMaxTensorRank> place{};
  for (std::size_t i = 1; i < map.rank; ++i) {
    place[i] = std::int64_t{at[i]} + std::int64_t{row % map.elements(i)} * map.steps[i];
    row /= map.elements(i);
  }
  return place;
}

}  // namespace

std::uint32_t bytes_of(TensorElement element) {
  switch (element) {
    case TensorElement::kU8:
      return 1;
    case TensorElement::kU16:
    case TensorElement::kF16:
    case TensorElement::kBf16:
      return 2;
    case TensorElement::kU32:
    case TensorElement::kS32:
    case TensorElement::kF32:
    case TensorElement::kF32Ftz:
    case TensorElement::kTf32:
    case TensorElement::kTf32Ftz:
      return 4;
    case TensorElement::kU64:
    case TensorElement::kS64:
    case TensorElement::kF64:
      return 8;
  }
  return 0;  // what no map of ours says
}

bool is_floating(TensorElement element) {
  return element >= TensorElement::kF16;
}

bool TensorMap::has_valid_box() const {
  for (std::size_t i = 0; i < kMaxTensorRank; ++i) {
    const bool is_single = i >= rank || (is_im2col() && i != 0);
    if (box[i] == 0 || box[i] > kMaxBox || (is_single && box[i] != 1)) {
      return false;
    }
  }
  return true;
}

// The corners of more dimensions have fewer bits.
bool TensorMap::has_valid_pixels() const {
  if (!is_im2col()) {
    return lower == decltype(lower){} && upper == decltype(upper){};
  }
  if (rank < kLeastPixelRank || pixels > kMaxPixels) {
    return false;
  }
  const std::size_t dimensions = rank - std::size_t{2};
  const int most = 1 << (16 / dimensions - 1);
  for (std::size_t i = 0; i < kMaxPixelDimensions; ++i) {
    const int least = i < dimensions ? -most : 0, largest = i < dimensions ? most - 1 : 0;
    if (lower[i] < least || lower[i] > largest || upper[i] < least || upper[i] > largest) {
      return false;
    }
  }
  return true;
}

bool TensorMap::is_valid() const {
  if (rank == 0 || rank > kMaxTensorRank || bytes_of(element) == 0 ||
      swizzle > TensorSwizzle::k128Bytes || address % kAlignment != 0 ||
      (fills_with_nan && !is_floating(element))) {
    return false;
  }
  for (std::size_t i = 0; i < kMaxTensorRank; ++i) {
    const bool is_beyond = i >= rank;
    if (steps[i] == 0 || steps[i] > kMaxStep || (i == 0 && steps[i] != 1) ||
        (is_beyond && last[i] != 0) ||
        (i != 0 && !is_beyond &&
         (strides[i - 1] % kAlignment != 0 || strides[i - 1] >= kMaxStride))) {
      return false;
    }
  }
  return has_valid_box() && has_valid_pixels() && row_bytes() % kAlignment == 0 &&
         (swizzle == TensorSwizzle::kNone || row_bytes() <= span_of(swizzle));
}

std::uint32_t TensorMap::elements(std::size_t dimension) const {
  const std::uint32_t step = steps[dimension];
  return (box[dimension] + step - 1) / step;
}

std::uint64_t TensorMap::rows() const {
  if (is_im2col()) {
    return pixels;
  }
  std::uint64_t rows = 1;
  for (std::size_t i = 1; i < rank; ++i) {
    rows *= elements(i);
  }
  return rows;
}

std::uint32_t TensorMap::row_bytes() const {
  return elements(0) * bytes_of(element);
}

std::uint64_t TensorMap::box_bytes() const {
  return rows() * row_bytes();
}

std::uint32_t TensorMap::row_pitch() const {
  return std::max(row_bytes(), span_of(swizzle));
}

TensorRow row_of_box(const TensorMap& map, const TensorCoordinates& at, std::uint32_t row,
                     const PixelOffsets& offsets) {
  DEBUG_ASSERT(map.is_valid() && row < map.rows());
  TensorRow found{.offset = row * map.row_pitch(), .address = map.address};
  const auto place = map.is_im2col() ? place_of_pixel(map, at, row) : place_of_row(map, at, row);
  for (std::size_t i = 1; i < map.rank; ++i) {
    const bool is_moved = map.is_im2col() && i + 1 < map.rank;
    const std::int64_t coordinate = place[i] + (is_moved ? offsets[i - 1] : 0);
    if (coordinate < 0 || coordinate > std::int64_t{map.last[i]}) {
      return found;
    }
    found.address += static_cast<std::uint64_t>(coordinate) * map.strides[i - 1];
  }
  const std::int64_t end = std::int64_t{at[0]} + map.box[0];
  const std::int64_t first = std::max<std::int64_t>(at[0], 0);
  const std::int64_t behind = std::min(end, std::int64_t{map.last[0]} + 1);
  if (first < behind) {
    const std::uint32_t size = bytes_of(map.element);
    found.before = static_cast<std::uint32_t>(first - at[0]) * size;
    found.bytes = static_cast<std::uint32_t>(behind - first) * size;
    found.address += static_cast<std::uint64_t>(first) * size;
  }
  return found;
}

}  // namespace barracuda
