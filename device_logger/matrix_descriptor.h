// The 64-bit descriptor by which wgmma and tcgen05 name a matrix in shared memory, and where the
// bytes of the matrix lie (PTX ISA, "Shared Memory Matrix Layout" of the asynchronous warpgroup
// level matrix instructions). Values alone; the emulated device and the detector have no other
// definition.
//
// A matrix has rows (M of A, N of B) and a depth K, of which one instruction takes 32 bytes of each
// row, whatever its type; of the B of a sparse product, twice as many. Its smallest part is a unit:
// 16 bytes that lie together, of one row where K is contiguous, else eight elements of two bytes of
// one k. Eight units make a core matrix.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace barracuda::wire {

inline constexpr std::uint32_t kUnitBytes = 16;
inline constexpr std::uint32_t kDepthBytes = 32;     // of a row, of one instruction
inline constexpr std::uint32_t kCoreUnits = 8;       // of a core matrix
inline constexpr std::uint32_t kWarpRows = 16;       // of A and D, of each warp of a warpgroup
inline constexpr std::uint32_t kWarpgroupWarps = 4;  // that follow each other
inline constexpr std::uint32_t kMaxColumns = 256;    // N
// Of B; A has less.
inline constexpr std::uint32_t kMaxMatrixUnits = kMaxColumns * 2 * kDepthBytes / kUnitBytes;

enum class MatrixMajor : std::uint8_t {
  kDepth,  // "K-major": elements of a row that follow each other along k are neighbours
  kRows,   // "MN-major", the transposed form: elements of one k, of rows that follow each other
};

struct MatrixDescriptor {
  std::uint32_t start = 0;    // address in the shared window
  std::uint32_t leading = 0;  // byte offsets; what each is between, unit_address() says
  std::uint32_t stride = 0;
  std::uint32_t base_offset = 0;  // lines of 128 bytes from a repeat of the pattern to its start
  std::uint32_t swizzled_bits =
      0;  // of the unit's number that are mixed: 0 (none) to 3 (128 bytes)

  friend constexpr bool operator==(const MatrixDescriptor&, const MatrixDescriptor&) = default;
};

constexpr MatrixDescriptor read_descriptor(std::uint64_t bits) {
  const auto offset = [bits](int low) {
    return static_cast<std::uint32_t>(bits >> low & 0x3FFF) * kUnitBytes;
  };
  const auto mode = static_cast<std::uint32_t>(bits >> 62);  // 1: 128 bytes, 2: 64, 3: 32
  return {.start = offset(0),
          .leading = offset(16),
          .stride = offset(32),
          .base_offset = static_cast<std::uint32_t>(bits >> 49 & 7),
          .swizzled_bits = mode == 0 ? 0 : 4 - mode};
}

static_assert(read_descriptor(0x8004'0040'0008'3FFF) == MatrixDescriptor{.start = 0x3FFF0,
                                                                         .leading = 128,
                                                                         .stride = 1024,
                                                                         .base_offset = 2,
                                                                         .swizzled_bits = 2},
              "start, leading, stride, base offset and mode lie where the ISA says");

// The units of one 128-byte line trade places by the number of the line. The pattern repeats with
// the address, not with the matrix, so that a descriptor may begin inside of it; a matrix whose
// pattern does not begin at a repeat says by its base offset where it does.
constexpr std::uint32_t swizzled(const MatrixDescriptor& matrix, std::uint32_t address) {
  const std::uint32_t mixed = (1U << matrix.swizzled_bits) - 1;
  const std::uint32_t line = matrix.swizzled_bits == 0 ? 0 : (address >> 7) - matrix.base_offset;
  return address ^ (line & mixed) << 4;
}

// K-major: `along` is the row, `across` the unit of it, 0 to 3. MN-major: `along` is the number of
// the eight rows, `across` is k.
constexpr std::uint32_t unit_address(const MatrixDescriptor& matrix, MatrixMajor major,
                                     std::uint32_t along, std::uint32_t across) {
  const std::uint32_t width = 1U << matrix.swizzled_bits;  // units of a line of the pattern
  std::uint32_t offset = 0;
  if (major == MatrixMajor::kDepth) {
    offset = along % kCoreUnits * kUnitBytes * width + along / kCoreUnits * matrix.stride +
             across / width * matrix.leading + across % width * kUnitBytes;
  } else if (width == 1) {
    offset = along * matrix.stride + across % kCoreUnits * kUnitBytes +
             across / kCoreUnits * matrix.leading;
  } else {
    offset = along % width * kUnitBytes + along / width * matrix.leading +
             across % kCoreUnits * kUnitBytes * width + across / kCoreUnits * matrix.stride;
  }
  return swizzled(matrix, matrix.start + offset);
}

// Of MN-major, elements of wgmma have two bytes; tcgen05 has bytes as well.
constexpr std::uint32_t element_address(const MatrixDescriptor& matrix, MatrixMajor major,
                                        std::uint32_t element_bytes, std::uint32_t row,
                                        std::uint32_t k) {
  if (major == MatrixMajor::kDepth) {
    const std::uint32_t byte = k * element_bytes;
    return unit_address(matrix, major, row, byte / kUnitBytes) + byte % kUnitBytes;
  }
  const std::uint32_t rows = kUnitBytes / element_bytes;
  return unit_address(matrix, major, row / rows, k) + row % rows * element_bytes;
}

// Which rows of a matrix, and how much of each; the numbers of rows are multiples of eight.
struct MatrixRowRange {
  std::uint32_t first = 0, count = 0;
  std::uint32_t depth_bytes = kDepthBytes;
  std::uint32_t element_bytes = 2;  // of MN-major
};

// What of A the warp reads, by its number in the CTA.
constexpr MatrixRowRange rows_of_warp(std::uint32_t warp) {
  return {.first = warp % kWarpgroupWarps * kWarpRows, .count = kWarpRows};
}

// Calls visit(address) for each unit of these rows.
template <typename Visit>
constexpr void for_each_unit(const MatrixDescriptor& matrix, MatrixMajor major,
                             const MatrixRowRange& rows, Visit visit) {
  const bool is_deep = major == MatrixMajor::kDepth;
  const std::uint32_t of_unit = is_deep ? 1 : kUnitBytes / rows.element_bytes;  // rows
  const std::uint32_t across = rows.depth_bytes / (is_deep ? kUnitBytes : rows.element_bytes);
  for (std::uint32_t along = rows.first / of_unit; along < (rows.first + rows.count) / of_unit;
       ++along) {
    for (std::uint32_t other = 0; other < across; ++other) {
      visit(unit_address(matrix, major, along, other));
    }
  }
}

// Calls visit(address, bytes) for each stretch of bytes of these rows, in ascending order, each
// byte once.
template <typename Visit>
void for_each_stretch(const MatrixDescriptor& matrix, MatrixMajor major, const MatrixRowRange& rows,
                      Visit visit) {
  std::array<std::uint32_t, kMaxMatrixUnits> units{};
  std::size_t count = 0;
  for_each_unit(matrix, major, rows, [&](std::uint32_t address) { units[count++] = address; });
  std::sort(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t first = 0; first < count;) {
    std::uint32_t end = units[first] + kUnitBytes;
    std::size_t next = first + 1;
    for (; next < count && units[next] <= end; ++next) {
      end = units[next] + kUnitBytes;
    }
    visit(units[first], end - units[first]);
    first = next;
  }
}

// What a wgmma says in its text of the matrices that it reads: SiteInfo::constant of a
// kMatrixProduct.
struct ProductShape {
  std::uint32_t columns = 0;   // N
  bool has_registers = false;  // of A, which then has no descriptor
  MatrixMajor a = MatrixMajor::kDepth, b = MatrixMajor::kDepth;
  bool is_sparse = false;  // of A half the elements of a row are stored

  // All of B.
  [[nodiscard]] constexpr MatrixRowRange rows_of_b() const {
    return {.first = 0, .count = columns, .depth_bytes = (is_sparse ? 2 : 1) * kDepthBytes};
  }

  [[nodiscard]] constexpr std::uint64_t packed() const {
    return columns | std::uint64_t{has_registers} << 16 |
           std::uint64_t{a == MatrixMajor::kRows} << 17 |
           std::uint64_t{b == MatrixMajor::kRows} << 18 | std::uint64_t{is_sparse} << 19;
  }

  static constexpr ProductShape of(std::uint64_t packed) {
    const auto major = [packed](int bit) {
      return (packed >> bit & 1) != 0 ? MatrixMajor::kRows : MatrixMajor::kDepth;
    };
    return {.columns = static_cast<std::uint32_t>(packed & 0xFFFF),
            .has_registers = (packed >> 16 & 1) != 0,
            .a = major(17),
            .b = major(18),
            .is_sparse = (packed >> 19 & 1) != 0};
  }

  [[nodiscard]] constexpr bool is_valid() const {
    return columns != 0 && columns <= kMaxColumns && columns % kCoreUnits == 0;
  }

  friend constexpr bool operator==(const ProductShape&, const ProductShape&) = default;
};

static_assert(ProductShape::of(ProductShape{.columns = 256, .b = MatrixMajor::kRows}.packed()) ==
              ProductShape{.columns = 256, .b = MatrixMajor::kRows});
static_assert(ProductShape::of(
                  ProductShape{.columns = 8, .has_registers = true, .is_sparse = true}.packed()) ==
              ProductShape{.columns = 8, .has_registers = true, .is_sparse = true});

}  // namespace barracuda::wire
