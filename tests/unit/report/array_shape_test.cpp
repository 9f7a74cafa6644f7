#include "report/array_shape.h"

#include <catch2/catch.hpp>

namespace barracuda::report {
namespace {

using Shape = std::vector<std::uint64_t>;

Shape shape(const std::vector<std::string>& lines, std::uint64_t elements) {
  return array_shape(lines, "tile", elements);
}

TEST_CASE("a declaration says how many elements there are of each dimension") {
  CHECK(shape({"__shared__ float tile[4][8];"}, 32) == Shape{4, 8});
  CHECK(shape({"__device__ int tile [2] [3] [5u];"}, 30) == Shape{2, 3, 5});
  CHECK(shape({"static __shared__ T a[2], tile[4][(2 + 1) * 8 - 4 / 2];"}, 88) == Shape{4, 22});
  CHECK(shape({"__shared__ float tile[4];"}, 4) == Shape{4});
  CHECK(shape({"__shared__ float tile[4][8];"}, 33).empty());
  CHECK(shape({"float tile[4][8];", "x = tile[4][8];"}, 32).empty());
  CHECK(shape({"__shared__ float tiles[4][8], my_tile[4][8];"}, 32).empty());
  CHECK(shape({"__shared__ float tile[4][8"}, 32).empty());
  CHECK(shape({"__shared__ float tile[4][0];"}, 0).empty());
  CHECK(shape({"__shared__ float tile[4][1 / 0];"}, 4).empty());
  CHECK(shape({"__shared__ float tile[][8];"}, 32).empty());
  CHECK(shape({}, 32).empty());
}

TEST_CASE("the last declaration before the access counts") {
  CHECK(shape({"__shared__ float tile[8][4];", "", "__shared__ float tile[4][8];", "tile[1][2]"},
              32) == Shape{4, 8});
}

TEST_CASE("names have the values that the file gives them") {
  const std::string declared = "__shared__ float tile[kRows][kRows + 1];";
  CHECK(shape({"#define kRows 16 // of a tile", declared}, 272) == Shape{16, 17});
  CHECK(shape({"# define kRows (8 * 2) /* rows */", declared}, 272) == Shape{16, 17});
  CHECK(shape({"constexpr int kWarps = 4, kRows = 4 * kWarps;", declared}, 272) == Shape{16, 17});
  CHECK(shape({"const int kRows{16};", declared}, 272) == Shape{16, 17});
  // One that nothing defines, as a template's parameter, has the value that fits.
  CHECK(shape({"template <int kRows>", declared}, 272) == Shape{16, 17});
  CHECK(shape({declared}, 273).empty());
  CHECK(shape({"__shared__ float tile[kRows][kColumns];"}, 272).empty());
  CHECK(shape({"#define kColumns 17", "__shared__ float tile[kRows][kColumns];"}, 272) ==
        Shape{16, 17});
  CHECK(shape({"#define kRows kRows", declared}, 272) == Shape{16, 17});
  CHECK(shape({"#define kRows 8", declared}, 272).empty());
}

}  // namespace
}  // namespace barracuda::report
