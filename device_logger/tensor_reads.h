// What an instruction of tcgen05 says of the matrices that it reads in shared memory: its text, by
// SiteInfo::constant, and the 32 bits of a product's instruction descriptor (PTX ISA, "Instruction
// descriptor" of the TensorCore 5th generation instructions). Where their bytes lie says
// matrix_descriptor.h: the layouts are those of wgmma. Values alone; the emulated device and the
// detector have no other definition.
#pragma once

#include <cstdint>
#include <optional>

#include "device_logger/matrix_descriptor.h"

namespace barracuda::wire {

// kMxf4 stands for kind::mxf4nvf4 too. kCopy: tcgen05.cp.
enum class TensorKind : std::uint8_t { kF16, kTf32, kF8f6f4, kI8, kMxf8f6f4, kMxf4, kCopy };

inline constexpr std::uint32_t kMaxTensorRows = 128;  // M, of one CTA

// Packed, it is SiteInfo::constant of a kMatrixProduct of Asynchrony::kTensorCore.
struct TensorReads {
  TensorKind kind = TensorKind::kF16;
  bool has_tensor_memory = false;         // of A, which then has no descriptor
  bool is_sparse = false;                 // of A half the elements of a row are stored
  std::uint32_t rows = 0, row_bytes = 0;  // of a copy

  [[nodiscard]] constexpr std::uint64_t packed() const {
    return static_cast<std::uint64_t>(kind) | std::uint64_t{has_tensor_memory} << 8 |
           std::uint64_t{is_sparse} << 9 | std::uint64_t{rows} << 16 |
           std::uint64_t{row_bytes} << 32;
  }

  static constexpr std::optional<TensorReads> of(std::uint64_t packed) {
    if ((packed & 0xFF) > static_cast<std::uint64_t>(TensorKind::kCopy)) {
      return std::nullopt;
    }
    const TensorReads reads{.kind = static_cast<TensorKind>(packed & 0xFF),
                            .has_tensor_memory = (packed >> 8 & 1) != 0,
                            .is_sparse = (packed >> 9 & 1) != 0,
                            .rows = static_cast<std::uint32_t>(packed >> 16 & 0xFFFF),
                            .row_bytes = static_cast<std::uint32_t>(packed >> 32 & 0xFF)};
    return reads.rows <= kMaxTensorRows && reads.row_bytes <= kDepthBytes ? std::optional(reads)
                                                                          : std::nullopt;
  }

  friend constexpr bool operator==(const TensorReads&, const TensorReads&) = default;
};

static_assert(TensorReads::of(TensorReads{.kind = TensorKind::kMxf4, .is_sparse = true}.packed()) ==
              TensorReads{.kind = TensorKind::kMxf4, .is_sparse = true});
static_assert(TensorReads::of(
                  TensorReads{.kind = TensorKind::kCopy, .rows = 128, .row_bytes = 32}.packed()) ==
              TensorReads{.kind = TensorKind::kCopy, .rows = 128, .row_bytes = 32});

// The fields of an instruction descriptor. What a format means, the kind says.
struct TensorShape {
  std::uint32_t rows = 0, columns = 0;  // M, N
  MatrixMajor a = MatrixMajor::kDepth, b = MatrixMajor::kDepth;
  std::uint32_t sum_format = 0, a_format = 0, b_format = 0;
  bool negates_a = false, negates_b = false, saturates = false, is_sparse = false;
  bool is_other_depth = false;  // of kMxf4: K is 96
};

constexpr bool is_block_scaled(TensorKind kind) {
  return kind == TensorKind::kMxf8f6f4 || kind == TensorKind::kMxf4;
}

constexpr TensorShape read_instruction_descriptor(TensorKind kind, std::uint32_t bits) {
  const auto field = [bits](int low, std::uint32_t mask) { return bits >> low & mask; };
  const auto major = [field](int low) {
    return field(low, 1) != 0 ? MatrixMajor::kRows : MatrixMajor::kDepth;
  };
  const bool is_scaled = is_block_scaled(kind);
  return {.rows = field(24, 0x1F) * 16,
          .columns = field(17, 0x3F) * 8,
          .a = major(15),
          .b = major(16),
          .sum_format = is_scaled ? 1 : field(4, 3),
          .a_format = field(7, 7),
          .b_format = field(10, 7),
          .negates_a = field(13, 1) != 0,
          .negates_b = field(14, 1) != 0,
          .saturates = !is_scaled && field(3, 1) != 0,
          .is_sparse = field(2, 1) != 0,
          .is_other_depth = is_scaled && field(31, 1) != 0};
}

static_assert(read_instruction_descriptor(TensorKind::kF16, 0x0802'0010).rows == 128 &&
                  read_instruction_descriptor(TensorKind::kF16, 0x0802'0010).columns == 8,
              "N from bit 17 by eights, M from bit 24 by sixteens");

// Of an element that lies transposed; 0: where its bytes lie is not known. (Transposed tf32 is read
// in units of 32 bytes; the kinds of four bits are not transposed.)
constexpr std::uint32_t transposed_bytes(TensorKind kind) {
  switch (kind) {
    case TensorKind::kF16:
      return 2;
    case TensorKind::kF8f6f4:
    case TensorKind::kI8:
    case TensorKind::kMxf8f6f4:
      return 1;
    case TensorKind::kTf32:
    case TensorKind::kMxf4:
    case TensorKind::kCopy:
      break;
  }
  return 0;
}

// Nothing where what it reads is not known: an offset that is an address, a swizzle of units of 32
// bytes, or bits that the ISA says are otherwise.
constexpr std::optional<MatrixDescriptor> read_tensor_descriptor(std::uint64_t bits) {
  constexpr std::uint64_t kVersion = std::uint64_t{1} << 46;
  constexpr std::uint64_t kFixed = std::uint64_t{7} << 46 | std::uint64_t{1} << 52 |
                                   std::uint64_t{0xFF} << 53 | std::uint64_t{1} << 61;
  return (bits & kFixed) == kVersion ? std::optional(read_descriptor(bits)) : std::nullopt;
}

static_assert(read_tensor_descriptor(0x4000'4040'0008'3FFF)->swizzled_bits == 3);
static_assert(!read_tensor_descriptor(0x4000'0040'0008'3FFF), "bits 46 to 48 are 1");
static_assert(!read_tensor_descriptor(0x2000'4040'0008'3FFF), "units of 32 bytes");

// The rows of a matrix that lies so; nothing where they are not whole units.
constexpr std::optional<MatrixRowRange> tensor_rows(TensorKind kind, MatrixMajor major,
                                                    std::uint32_t rows, std::uint32_t row_bytes) {
  MatrixRowRange range{.first = 0, .count = rows, .depth_bytes = row_bytes};
  if (major == MatrixMajor::kRows) {
    range.element_bytes = transposed_bytes(kind);
    if (range.element_bytes == 0 || rows % (kUnitBytes / range.element_bytes) != 0) {
      return std::nullopt;
    }
  }
  return range;
}

// What one instruction reads; nothing, where it has no such matrix.
struct TensorMatrix {
  MatrixDescriptor matrix;
  MatrixMajor major = MatrixMajor::kDepth;
  MatrixRowRange rows;
};

struct TensorMatrices {
  std::optional<TensorMatrix> a, b;  // a: what a copy reads
};

// Of a product of one CTA: M is 64 or 128, and N then a multiple of 16.
constexpr bool is_known_shape(const TensorReads& reads, const TensorShape& shape) {
  const bool is_whole =
      shape.rows == 64 || (shape.rows == kMaxTensorRows && shape.columns % 16 == 0);
  return is_whole && shape.columns != 0 && shape.columns <= kMaxColumns &&
         shape.is_sparse == reads.is_sparse && !shape.is_other_depth;
}

// Nothing, if an operand cannot be, or it is not known what it means.
constexpr std::optional<TensorMatrices> matrices_of(const TensorReads& reads, std::uint64_t a,
                                                    std::uint64_t b, std::uint32_t instruction) {
  TensorMatrices found;
  const auto add = [&reads](std::uint64_t bits, MatrixMajor major, std::uint32_t rows,
                            std::uint32_t row_bytes, std::optional<TensorMatrix>& into) {
    const auto matrix = read_tensor_descriptor(bits);
    const auto range = tensor_rows(reads.kind, major, rows, row_bytes);
    if (matrix && range) {
      into = TensorMatrix{.matrix = *matrix, .major = major, .rows = *range};
    }
    return into.has_value();
  };
  if (reads.kind == TensorKind::kCopy) {
    return add(a, MatrixMajor::kDepth, reads.rows, reads.row_bytes, found.a) ? std::optional(found)
                                                                             : std::nullopt;
  }
  const TensorShape shape = read_instruction_descriptor(reads.kind, instruction);
  const bool is_good =
      is_known_shape(reads, shape) &&
      (reads.has_tensor_memory || add(a, shape.a, shape.rows, kDepthBytes, found.a)) &&
      add(b, shape.b, shape.columns, (reads.is_sparse ? 2 : 1) * kDepthBytes, found.b);
  return is_good ? std::optional(found) : std::nullopt;
}

}  // namespace barracuda::wire
