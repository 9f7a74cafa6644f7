// Which maps there are, and what the rows of their boxes touch.
#include "base/tensor_map.h"

#include <catch2/catch.hpp>

namespace barracuda {
namespace {

// 100 by 50 elements of 2 bytes, in rows of 256; boxes of 16 by 4.
TensorMap plain() {
  TensorMap map;
  map.address = 0x10000;
  map.rank = 2;
  map.element = TensorElement::kF16;
  map.strides[0] = 256;
  map.last = {99, 49, 0, 0, 0};
  map.box = {16, 4, 1, 1, 1};
  map.steps = {1, 1, 1, 1, 1};
  return map;
}

}  // namespace

TEST_CASE("a map that no driver makes is not valid") {
  CHECK(plain().is_valid());
  CHECK_FALSE(TensorMap{}.is_valid());
  const auto is_valid_with = [](const auto& change) {
    TensorMap map = plain();
    change(map);
    return map.is_valid();
  };
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.rank = 6; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.address = 8; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.strides[0] = 264; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.strides[0] = std::uint64_t{1} << 40; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.box[0] = 12; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.box[1] = 257; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.box[2] = 2; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.steps[1] = 9; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.steps[0] = 2; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) {
    map.element = TensorElement::kU16;
    map.fills_with_nan = true;
  }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) {
    map.swizzle = TensorSwizzle::k32Bytes;
    map.box[0] = 32;
  }));
  CHECK(is_valid_with([](TensorMap& map) { map.swizzle = TensorSwizzle::k32Bytes; }));
}

TEST_CASE("the rows of a box are clipped to the tensor") {
  const TensorMap map = plain();
  CHECK(map.rows() == 4);
  CHECK(map.row_bytes() == 32);
  CHECK(map.box_bytes() == 128);
  const TensorRow inside = row_of_box(map, {10, 5}, 2);
  CHECK(inside.offset == 64);
  CHECK(inside.before == 0);
  CHECK(inside.bytes == 32);
  CHECK(inside.address == 0x10000 + 7 * 256 + 20);
  const TensorRow left = row_of_box(map, {-6, 0}, 0);
  CHECK(left.before == 12);
  CHECK(left.bytes == 20);
  CHECK(left.address == 0x10000);
  const TensorRow right = row_of_box(map, {96, 49}, 0);
  CHECK(right.bytes == 8);
  CHECK(row_of_box(map, {96, 49}, 1).bytes == 0);
  CHECK(row_of_box(map, {100, 0}, 0).bytes == 0);
  CHECK(row_of_box(map, {-16, 0}, 0).bytes == 0);
  CHECK(row_of_box(map, {-2147483647 - 1, 0}, 0).bytes == 0);
  CHECK(row_of_box(map, {2147483647, 2147483647}, 3).bytes == 0);
}

TEST_CASE("pixels follow each other within their box, line after line, image after image") {
  // Two images of 4 by 3 pixels with 8 channels of 2 bytes; the box leaves out the last column and
  // has a line above the image.
  TensorMap map = plain();
  map.rank = 4;
  map.last = {7, 3, 2, 1, 0};
  map.strides = {16, 64, 192, 0};
  map.box = {8, 1, 1, 1, 1};
  map.lower = {0, -1, 0};
  map.upper = {-1, 0, 0};
  map.pixels = 9;
  REQUIRE(map.is_valid());
  CHECK(map.rows() == 9);
  CHECK(map.box_bytes() == 9 * 16);
  // From the second column of the line above: 1 and 2, then the three of lines 0 and 1, then one.
  const TensorCoordinates at{0, 1, -1, 0};
  CHECK(row_of_box(map, at, 0).bytes == 0);  // outside the image
  CHECK(row_of_box(map, at, 1).bytes == 0);
  for (std::uint32_t i = 0; i < 6; ++i) {
    const TensorRow row = row_of_box(map, at, 2 + i);
    CHECK(row.offset == (2 + i) * 16);
    CHECK(row.bytes == 16);
    CHECK(row.address == 0x10000 + i / 3 * 64 + i % 3 * 16);
  }
  CHECK(row_of_box(map, at, 8).address == 0x10000 + 2 * 64);
  // What is copied lies beside the pixels; a line beneath, and the last column is there.
  const PixelOffsets offsets{1, 1, 0};
  CHECK(row_of_box(map, at, 0, offsets).address == 0x10000 + 2 * 16);
  CHECK(row_of_box(map, at, 1, offsets).address == 0x10000 + 3 * 16);
  CHECK(row_of_box(map, at, 2, offsets).address == 0x10000 + 64 + 16);
  // Behind the last line comes the next image, in the box's first line; and there are but two.
  const TensorCoordinates last{0, 2, 2, 0};
  CHECK(row_of_box(map, last, 1).bytes == 0);
  CHECK(row_of_box(map, last, 4).address == 0x10000 + 192);
  CHECK(row_of_box(map, {0, 2, 2, 1}, 4).bytes == 0);
}

TEST_CASE("steps between pixels begin anew with each line") {
  TensorMap map = plain();
  map.rank = 3;
  map.last = {7, 5, 8, 0, 0};
  map.strides = {16, 96, 0, 0};
  map.box = {8, 1, 1, 1, 1};
  map.steps = {1, 2, 3, 1, 1};
  map.pixels = 6;
  REQUIRE(map.is_valid());
  constexpr std::uint64_t kPlaces[] = {3 * 16, 5 * 16, 3 * 96, 3 * 96 + 32, 3 * 96 + 64, 6 * 96};
  for (std::uint32_t i = 0; i < 6; ++i) {
    CHECK(row_of_box(map, {0, 3, 0}, i).address == 0x10000 + kPlaces[i]);
  }
}

TEST_CASE("pixels that no driver makes a map of are not valid") {
  const auto is_valid_with = [](const auto& change) {
    TensorMap map = plain();
    map.rank = 4;
    map.last = {7, 3, 2, 1, 0};
    map.strides = {16, 64, 192, 0};
    map.box = {8, 1, 1, 1, 1};
    map.pixels = 9;
    change(map);
    return map.is_valid();
  };
  CHECK(is_valid_with([](TensorMap&) {}));
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.rank = 2; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.pixels = 1025; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.box[1] = 2; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.lower[1] = -129; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.upper[0] = 128; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) { map.lower[2] = 1; }));
  CHECK_FALSE(is_valid_with([](TensorMap& map) {
    map.pixels = 0;
    map.upper[0] = 1;
  }));
}

TEST_CASE("steps leave out elements, but not in the innermost dimension") {
  TensorMap map = plain();
  map.box[1] = 7;
  map.steps[1] = 3;
  CHECK(map.rows() == 3);
  CHECK(row_of_box(map, {0, 1}, 2).address == 0x10000 + 7 * 256);
}

TEST_CASE("each row of a swizzled box begins a line") {
  TensorMap map = plain();
  map.swizzle = TensorSwizzle::k128Bytes;
  REQUIRE(map.is_valid());
  CHECK(map.row_bytes() == 32);
  CHECK(map.row_pitch() == 128);
  CHECK(map.box_bytes() == 128);
  CHECK(map.reach() == 512);
  CHECK(row_of_box(map, {0, 0}, 3).offset == 384);
  CHECK(plain().row_pitch() == 32);
}

TEST_CASE("the largest box does not overflow its size") {
  TensorMap map = plain();
  map.rank = 5;
  map.strides.fill(256);
  map.box = {256, 256, 256, 256, 256};
  REQUIRE(map.is_valid());
  CHECK(map.rows() == std::uint64_t{1} << 32);
  CHECK(map.box_bytes() == std::uint64_t{1} << 41);
}

}  // namespace barracuda
