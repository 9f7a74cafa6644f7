// A tensor map: a tensor in global memory, and the box of its elements that one copy moves
// (cuTensorMapEncodeTiled), or a column of its pixels (cuTensorMapEncodeIm2col). What it is made
// into is the device's affair; what bytes a copy touches follows from this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace barracuda {

inline constexpr std::size_t kMaxTensorRank = 5;
inline constexpr std::size_t kMaxPixelDimensions = 3;  // width, height, depth, in this order

// In the order of CUtensorMapDataType.
enum class TensorElement : std::uint8_t {
  kU8,
  kU16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kF32,
  kF64,
  kBf16,
  kF32Ftz,
  kTf32,
  kTf32Ftz,
};
inline constexpr std::size_t kTensorElementCount = 13;
static_assert(static_cast<std::size_t>(TensorElement::kTf32Ftz) + 1 == kTensorElementCount);

std::uint32_t bytes_of(TensorElement element);
bool is_floating(TensorElement element);

// Pieces of 16 bytes change places within so many bytes of shared memory, and each row of a box
// begins such a line, even if it is shorter. In the order of CUtensorMapSwizzle.
enum class TensorSwizzle : std::uint8_t { kNone, k32Bytes, k64Bytes, k128Bytes };

// Where a byte of shared memory goes: what the PTX ISA says of the bits of its address.
constexpr std::uint64_t swizzled(TensorSwizzle swizzle, std::uint64_t address) {
  switch (swizzle) {
    case TensorSwizzle::kNone:
      return address;
    case TensorSwizzle::k32Bytes:
      return address ^ (address >> 3 & 0x10);
    case TensorSwizzle::k64Bytes:
      return address ^ (address >> 3 & 0x30);
    case TensorSwizzle::k128Bytes:
      return address ^ (address >> 3 & 0x70);
  }
  return address;
}

static_assert(swizzled(TensorSwizzle::k128Bytes, 0x380) == 0x3F0 &&
              swizzled(TensorSwizzle::k64Bytes, 0x180) == 0x1B0 &&
              swizzled(TensorSwizzle::k32Bytes, 0x80) == 0x90);

// Dimension 0 is the innermost, whose elements lie next to each other. What is beyond the rank is
// one element.
//
// Of im2col, dimension 0 has the channels, the last one the images, and those between are pixels: a
// copy moves box[0] channels of `pixels` pixels that follow each other within a box of its own,
// whose corners are so far from those of the tensor, image after image.
struct TensorMap {
  std::uint64_t address = 0;
  std::array<std::uint64_t, kMaxTensorRank - 1> strides{};  // bytes, of the dimensions from 1
  std::array<std::uint32_t, kMaxTensorRank> last{};  // coordinates: sizes go up to 2^32 elements
  std::array<std::uint16_t, kMaxTensorRank> box{};   // elements, the steps over them included
  std::array<std::uint8_t, kMaxTensorRank> steps{};  // between the elements of a box; of 0: 1
  std::uint8_t rank = 0;
  TensorElement element = TensorElement::kU8;
  TensorSwizzle swizzle = TensorSwizzle::kNone;
  bool fills_with_nan = false;  // outside the tensor, in loads; else with zeros
  std::array<std::int16_t, kMaxPixelDimensions> lower{}, upper{};
  std::uint16_t pixels = 0;  // 0: not im2col

  friend bool operator==(const TensorMap&, const TensorMap&) = default;

  [[nodiscard]] bool is_im2col() const { return pixels != 0; }

  // Whether the driver makes such maps. The rest is for these alone.
  [[nodiscard]] bool is_valid() const;
  // That a copy of a box moves along one dimension, or in all.
  [[nodiscard]] std::uint32_t elements(std::size_t dimension) const;
  [[nodiscard]] std::uint64_t rows() const;  // at most 256^4; of im2col the pixels
  [[nodiscard]] std::uint32_t row_bytes() const;
  [[nodiscard]] std::uint64_t box_bytes() const;
  // From row to row in shared memory, and all that a box reaches there.
  [[nodiscard]] std::uint32_t row_pitch() const;

  [[nodiscard]] std::uint64_t reach() const { return rows() * row_pitch(); }

 private:
  [[nodiscard]] bool has_valid_box() const;
  [[nodiscard]] bool has_valid_pixels() const;
};

static_assert(offsetof(TensorMap, strides) == 8 && offsetof(TensorMap, last) == 40 &&
              offsetof(TensorMap, box) == 60 && offsetof(TensorMap, steps) == 70 &&
              offsetof(TensorMap, rank) == 75 && offsetof(TensorMap, element) == 76 &&
              offsetof(TensorMap, swizzle) == 77 && offsetof(TensorMap, fills_with_nan) == 78 &&
              offsetof(TensorMap, lower) == 80 && offsetof(TensorMap, pixels) == 92 &&
              sizeof(TensorMap) == 96);

// Of a box's first element; those beyond the rank are 0.
using TensorCoordinates = std::array<std::int32_t, kMaxTensorRank>;
// Of im2col: from each pixel to the one that is copied.
using PixelOffsets = std::array<std::uint16_t, kMaxPixelDimensions>;

// One row of a box, whose elements lie together in both memories.
struct TensorRow {
  std::uint32_t offset = 0;   // in shared memory, before it is swizzled
  std::uint32_t before = 0;   // bytes of it that lie before the tensor
  std::uint32_t bytes = 0;    // inside; 0: none of it
  std::uint64_t address = 0;  // of the first of these
};

// 0 ≤ row < map.rows(), of a box that fits shared memory.
TensorRow row_of_box(const TensorMap& map, const TensorCoordinates& at, std::uint32_t row,
                     const PixelOffsets& offsets = {});

}  // namespace barracuda
