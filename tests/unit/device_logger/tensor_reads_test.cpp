// What descriptors of tcgen05 say of the matrices in shared memory.
#include "device_logger/tensor_reads.h"

#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace barracuda::wire;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::uint64_t kVersion = std::uint64_t{1} << 46;

using Stretches = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Stretches stretches_of(const TensorMatrix& matrix) {
  Stretches found;
  for_each_stretch(
      matrix.matrix, matrix.major, matrix.rows,
      [&](std::uint32_t address, std::uint32_t bytes) { found.emplace_back(address, bytes); });
  return found;
}

}  // namespace

TEST_CASE("the fields of an instruction descriptor lie where the ISA says") {
  const TensorShape shape =
      read_instruction_descriptor(TensorKind::kF8f6f4, 1U << 4 | 1U << 7 | 5U << 10 | 1U << 14 |
                                                           1U << 15 | 32U << 17 | 4U << 24);
  CHECK(shape.sum_format == 1);
  CHECK(shape.a_format == 1);
  CHECK(shape.b_format == 5);
  CHECK_FALSE(shape.negates_a);
  CHECK(shape.negates_b);
  CHECK(shape.a == MatrixMajor::kRows);
  CHECK(shape.b == MatrixMajor::kDepth);
  CHECK(shape.columns == 256);
  CHECK(shape.rows == 64);
  const TensorShape scaled =
      read_instruction_descriptor(TensorKind::kMxf4, 3U << 4 | 1U << 23 | 2U << 17 | 8U << 24);
  CHECK(scaled.columns == 16);
  CHECK(scaled.rows == 128);
  CHECK(scaled.sum_format == 1);
  CHECK_FALSE(scaled.saturates);
  CHECK(read_instruction_descriptor(TensorKind::kMxf4, 1U << 31).is_other_depth);
}

TEST_CASE("transposed bytes lie sixteen to a unit, of each k one") {
  // 32 rows, two units of one k apart by 512 bytes; eight k make a core matrix of 128 bytes.
  const auto matrices = matrices_of(
      {.kind = TensorKind::kI8}, kVersion | 128 >> 4 << 16 | std::uint64_t{512 >> 4} << 32,
      kVersion | 4096 >> 4 | 128 >> 4 << 16 | std::uint64_t{512 >> 4} << 32,
      2U << 4 | 1U << 15 | 1U << 16 | 4U << 17 | 4U << 24);
  REQUIRE(matrices);
  CHECK(stretches_of(*matrices->b) == Stretches{{4096, 1024}});
  CHECK(stretches_of(*matrices->a) == Stretches{{0, 2048}});
  CHECK(element_address(matrices->b->matrix, MatrixMajor::kRows, 1, 17, 9) ==
        4096 + 512 + 128 + 16 + 1);
}

TEST_CASE("a transposed matrix whose rows are not whole units is not known") {
  CHECK_FALSE(
      matrices_of({.kind = TensorKind::kI8}, kVersion, kVersion, 1U << 16 | 3U << 17 | 4U << 24));
  CHECK(matrices_of({.kind = TensorKind::kI8}, kVersion, kVersion, 3U << 17 | 4U << 24));
}
