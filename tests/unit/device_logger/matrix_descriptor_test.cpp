// Where the elements of a matrix of wgmma lie, against layouts that are written out by hand from
// the figures of the PTX ISA.
#include "device_logger/matrix_descriptor.h"

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace barracuda::wire;  // NOLINT(google-build-using-namespace)

namespace {

constexpr auto kDepth = MatrixMajor::kDepth;
constexpr auto kRows = MatrixMajor::kRows;

// A descriptor as programs make it.
std::uint64_t encode(std::uint32_t start, std::uint32_t leading, std::uint32_t stride,
                     std::uint64_t mode, std::uint64_t base_offset = 0) {
  return std::uint64_t{start >> 4} | std::uint64_t{leading >> 4} << 16 |
         std::uint64_t{stride >> 4} << 32 | base_offset << 49 | mode << 62;
}

struct Tile {
  std::uint64_t bits = 0;
  MatrixMajor major = kDepth;
  std::uint32_t element_bytes = 2;
};

// Every element of `rows` rows lies where `at` says.
bool lies(const Tile& tile, std::uint32_t rows,
          const std::function<std::uint32_t(std::uint32_t row, std::uint32_t k)>& at) {
  const MatrixDescriptor matrix = read_descriptor(tile.bits);
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t k = 0; k < kDepthBytes / tile.element_bytes; ++k) {
      if (element_address(matrix, tile.major, tile.element_bytes, row, k) != at(row, k)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

TEST_CASE("the fields of a descriptor lie where the ISA says") {
  const MatrixDescriptor matrix = read_descriptor(encode(0x12340, 128, 0x3FFF0, 3, 5));
  CHECK(matrix.start == 0x12340);
  CHECK(matrix.leading == 128);
  CHECK(matrix.stride == 0x3FFF0);
  CHECK(matrix.base_offset == 5);
  CHECK(matrix.swizzled_bits == 1);
  CHECK(read_descriptor(encode(0, 0, 0, 0)).swizzled_bits == 0);
  CHECK(read_descriptor(encode(0, 0, 0, 1)).swizzled_bits == 3);
  CHECK(read_descriptor(encode(0, 0, 0, 2)).swizzled_bits == 2);
}

TEST_CASE("without swizzle, core matrices of 8 rows of 16 bytes lie whole") {
  // Two of them side by side along K, 128 bytes apart; eight rows later 256 bytes on.
  CHECK(lies({encode(1024, 128, 256, 0)}, 64, [](std::uint32_t row, std::uint32_t k) {
    return 1024 + row / 8 * 256 + k / 8 * 128 + row % 8 * 16 + k % 8 * 2;
  }));
  // The other way round, of four bytes: those along M first.
  CHECK(lies({encode(2048, 1024, 128, 0), kDepth, 4}, 64, [](std::uint32_t row, std::uint32_t k) {
    return 2048 + row / 8 * 128 + k / 4 * 1024 + row % 8 * 16 + k % 4 * 4;
  }));
  CHECK(lies({encode(0, 4096, 128, 0), kDepth, 1}, 256, [](std::uint32_t row, std::uint32_t k) {
    return row / 8 * 128 + k / 16 * 4096 + row % 8 * 16 + k % 16;
  }));
}

TEST_CASE("with 128 bytes swizzled, the units of a row are mixed by the row") {
  // Rows of 64 elements of two bytes; an instruction takes 16, the third here.
  CHECK(lies({encode(1024 + 64, 16, 1024, 1)}, 64, [](std::uint32_t row, std::uint32_t k) {
    const std::uint32_t unit = (32 + k) / 8;
    return 1024 + row * 128 + (unit ^ row % 8) * 16 + k % 8 * 2;
  }));
  const MatrixDescriptor matrix = read_descriptor(encode(0, 16, 1024, 1));
  CHECK(element_address(matrix, kDepth, 2, 0, 9) == 18);
  CHECK(element_address(matrix, kDepth, 2, 1, 0) == 128 + 16);
  CHECK(element_address(matrix, kDepth, 2, 1, 8) == 128);
  CHECK(element_address(matrix, kDepth, 2, 7, 0) == 7 * 128 + 7 * 16);
  CHECK(element_address(matrix, kDepth, 2, 8, 0) == 1024);
}

TEST_CASE("with 64 and 32 bytes swizzled, it is by two and by four rows") {
  CHECK(lies({encode(512, 16, 512, 2)}, 128, [](std::uint32_t row, std::uint32_t k) {
    return 512 + row * 64 + (k / 8 ^ row / 2 % 4) * 16 + k % 8 * 2;
  }));
  CHECK(lies({encode(256, 16, 256, 3), kDepth, 1}, 128, [](std::uint32_t row, std::uint32_t k) {
    return 256 + row * 32 + (k / 16 ^ row / 4 % 2) * 16 + k % 16;
  }));
}

TEST_CASE("transposed, eight elements of one k lie together") {
  // No swizzle: 8 k make a core matrix; the next 8 k are 2048 bytes on, the next 8 rows 128.
  CHECK(lies({encode(0, 2048, 128, 0), kRows}, 64, [](std::uint32_t row, std::uint32_t k) {
    return row / 8 * 128 + k / 8 * 2048 + k % 8 * 16 + row % 8 * 2;
  }));
  // 128 bytes: lines of 64 rows, one for each k.
  CHECK(lies({encode(1024, 8192, 1024, 1), kRows}, 256, [](std::uint32_t row, std::uint32_t k) {
    return 1024 + row / 64 * 8192 + k * 128 + (row / 8 % 8 ^ k % 8) * 16 + row % 8 * 2;
  }));
  // 64 bytes: lines of 32 rows; 8 k take 512 bytes, the next 8 lie 4096 on.
  CHECK(lies({encode(0, 512, 4096, 2), kRows}, 128, [](std::uint32_t row, std::uint32_t k) {
    return row / 32 * 512 + k / 8 * 4096 + k % 8 * 64 + (row / 8 % 4 ^ k / 2 % 4) * 16 +
           row % 8 * 2;
  }));
  // 32 bytes: lines of 16 rows.
  CHECK(lies({encode(0, 256, 4096, 3), kRows}, 64, [](std::uint32_t row, std::uint32_t k) {
    return row / 16 * 256 + k / 8 * 4096 + k % 8 * 32 + (row / 8 % 2 ^ k / 4 % 2) * 16 +
           row % 8 * 2;
  }));
}

TEST_CASE("a base offset says where a pattern begins that is not at a repeat") {
  // It begins at 1024 + 384, the fourth line of 128 bytes.
  CHECK(lies({encode(1024 + 384, 16, 1024, 1, 3)}, 64, [](std::uint32_t row, std::uint32_t k) {
    const std::uint32_t address = 1024 + 384 + row * 128;
    return address + (k / 8 ^ row % 8) * 16 + k % 8 * 2;
  }));
  // Without swizzle it says nothing.
  CHECK(read_descriptor(encode(384, 128, 256, 0, 3)).base_offset == 3);
  CHECK(element_address(read_descriptor(encode(384, 128, 256, 0, 3)), kDepth, 2, 1, 0) == 384 + 16);
}

TEST_CASE("stretches are the bytes of the elements, each once, in ascending order") {
  const Tile tiles[] = {{encode(1024, 128, 256, 0)},
                        {encode(1024, 128, 512, 0)},
                        {encode(1024 + 96, 16, 1024, 1)},
                        {encode(512, 16, 512, 2)},
                        {encode(256, 16, 256, 3)},
                        {encode(0, 2048, 128, 0), kRows},
                        {encode(1024, 8192, 1024, 1), kRows},
                        {encode(0, 512, 4096, 2), kRows},
                        {encode(1024, 128, 0, 0)}};
  const MatrixRowRange ranges[] = {{.first = 0, .count = 8},
                                   {.first = 16, .count = 16},
                                   rows_of_warp(7),
                                   {.first = 0, .count = 256}};
  for (const Tile& tile : tiles) {
    for (const MatrixRowRange& rows : ranges) {
      const MatrixDescriptor matrix = read_descriptor(tile.bits);
      std::set<std::uint32_t> wanted, found;
      for (std::uint32_t row = rows.first; row < rows.first + rows.count; ++row) {
        for (std::uint32_t k = 0; k < 16; ++k) {
          wanted.insert(element_address(matrix, tile.major, 2, row, k));
          wanted.insert(element_address(matrix, tile.major, 2, row, k) + 1);
        }
      }
      std::uint32_t past = 0;
      for_each_stretch(matrix, tile.major, rows, [&](std::uint32_t address, std::uint32_t bytes) {
        CHECK((past == 0 || address > past));
        for (std::uint32_t byte = address; byte < address + bytes; ++byte) {
          CHECK(found.insert(byte).second);
        }
        past = address + bytes;
      });
      CHECK(found == wanted);
    }
  }
}

TEST_CASE("a matrix that lies whole is one stretch") {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stretches;
  for_each_stretch(
      read_descriptor(encode(1024, 128, 256, 0)), kDepth, {.first = 0, .count = 64},
      [&](std::uint32_t address, std::uint32_t bytes) { stretches.emplace_back(address, bytes); });
  CHECK(stretches == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1024, 64 * 32}});
  CHECK(rows_of_warp(6).first == 32);
}

TEST_CASE("the shape of a product survives its packing") {
  for (const bool has_registers : {false, true}) {
    for (const MatrixMajor b : {kDepth, kRows}) {
      const ProductShape shape{.columns = 96, .has_registers = has_registers, .a = kRows, .b = b};
      CHECK(ProductShape::of(shape.packed()) == shape);
    }
  }
  CHECK(ProductShape{.columns = 256}.is_valid());
  CHECK_FALSE(ProductShape{.columns = 0}.is_valid());
  CHECK_FALSE(ProductShape{.columns = 12}.is_valid());
  CHECK_FALSE(ProductShape{.columns = 264}.is_valid());
}
