// Copies of boxes of tensors: which elements go where.
#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "emulator/tensor_map_image.h"
#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using barracuda::kMaxTensorRank;
using barracuda::TensorElement;
using barracuda::TensorMap;
using barracuda::TensorSwizzle;
using test::Device;
using test::kernel_text;
using test::shape;

namespace {

constexpr std::string_view kShared =
    ".shared .align 1024 .b8 buffer[8192];\n.shared .align 8 .b64 barrier;\n";
constexpr std::string_view kLoad =
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes";
constexpr std::string_view kStore = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group";
constexpr std::string_view kAdd =
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group";
constexpr std::uint32_t kWords = 2048;  // of the buffer
constexpr std::uint32_t kUntouched = 0xEEEEEEEE;

// Dense, of whole numbers of 32 bits; every dimension in steps of 1.
TensorMap dense(const std::vector<std::uint32_t>& sizes, const std::vector<std::uint32_t>& box) {
  TensorMap map;
  map.rank = static_cast<std::uint8_t>(sizes.size());
  map.element = TensorElement::kU32;
  map.box.fill(1);
  map.steps.fill(1);
  std::uint64_t stride = 4;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    map.last.at(i) = sizes[i] - 1;
    map.box.at(i) = static_cast<std::uint16_t>(box[i]);
    stride *= sizes[i];
    if (i + 1 < sizes.size()) {
      map.strides.at(i) = stride;
    }
  }
  return map;
}

std::uint32_t elements_of(const TensorMap& map) {
  std::uint32_t count = 1;
  for (const std::uint32_t last : map.last) {
    count *= last + 1;
  }
  return count;
}

std::string of_rank(std::string_view form, int rank) {
  std::string text(form);
  return text.replace(text.find("2d"), 1, std::to_string(rank));
}

std::string coordinates_of(const std::vector<int>& at) {
  std::string text;
  for (const int coordinate : at) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", coordinate);
  }
  return text;
}

// What a copy leaves: the shared buffer, and the tensor, whose element i was i + 1000 before.
struct Result {
  DeviceError error;
  std::vector<std::uint32_t> shared, tensor;
};

// Element i of the shared buffer is `shared` + i * `step` before. `body` finds the map at %d1, the
// buffer at %r1.
Result run(TensorMap map, const std::string& body, std::uint32_t shared = kUntouched,
           std::uint32_t step = 0) {
  const std::string fill = fmt::format(R"(
    add.u64 %d1, %base, 8192;
    mov.u32 %r1, buffer;
    mov.u32 %r2, 0;
FILL:
    mad.lo.u32 %r3, %r2, {}, {};
    mad.lo.u32 %r4, %r2, 4, %r1;
    st.shared.u32 [%r4], %r3;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 2048;
    @%p1 bra FILL;
    mbarrier.init.shared.b64 [barrier], 1;
    fence.proxy.async;
)",
                                       step, shared);
  const std::string give = R"(
    mov.u32 %r2, 0;
GIVE:
    mad.lo.u32 %r4, %r2, 4, %r1;
    ld.shared.u32 %r3, [%r4];
    mul.wide.u32 %d2, %r2, 4;
    add.u64 %d2, %d2, %base;
    st.global.u32 [%d2], %r3;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 2048;
    @%p1 bra GIVE;)";
  Device device(kernel_text(fill + body + give, std::string(kShared)));
  std::vector<std::uint32_t> tensor(elements_of(map));
  for (std::uint32_t i = 0; i < tensor.size(); ++i) {
    tensor[i] = i + 1000;
  }
  map.address = device.buffer(tensor);
  std::vector<std::uint32_t> words(kWords + kTensorMapBytes / 4);
  TensorMapImage image;
  image.map = map;
  std::memcpy(words.data() + kWords, &image, sizeof image);
  const std::uint64_t out = device.buffer(words);
  Result result;
  result.error = device.run("k", shape({1}, {1}), out);
  result.shared = device.read<std::uint32_t>(out, kWords);
  result.tensor = device.read<std::uint32_t>(map.address, tensor.size());
  return result;
}

Result load(const TensorMap& map, const std::vector<int>& at) {
  const Result result =
      run(map, fmt::format(R"(
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [barrier], {};
    {} [%r1], [%d1, {{{}}}], [barrier];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [barrier], 0;
    @!%p2 bra WAIT;)",
                           map.box_bytes(), of_rank(kLoad, map.rank), coordinates_of(at)));
  INFO(result.error.message);
  REQUIRE(result.error.code == DeviceErrorCode::kNone);
  return result;
}

Result store(const TensorMap& map, const std::vector<int>& at, std::string_view form = kStore) {
  const Result result = run(map,
                            fmt::format("{} [%d1, {{{}}}], [%r1];\ncp.async.bulk.commit_group;\n"
                                        "cp.async.bulk.wait_group 0;\n",
                                        of_rank(form, map.rank), coordinates_of(at)),
                            5, 3);
  INFO(result.error.message);
  REQUIRE(result.error.code == DeviceErrorCode::kNone);
  return result;
}

// Calls visit(number in the box, index in the tensor or -1) for each element of a box, innermost
// dimension first.
void for_each_element(const TensorMap& map, const std::vector<int>& at,
                      const std::function<void(std::uint32_t, std::int64_t)>& visit) {
  std::uint32_t number = 0;
  std::array<std::int64_t, kMaxTensorRank> position{};
  const std::function<void(std::size_t)> go = [&](std::size_t dimension) {
    for (std::int64_t i = 0; i < map.box.at(dimension); i += map.steps.at(dimension)) {
      position.at(dimension) = at[dimension] + i;
      if (dimension != 0) {
        go(dimension - 1);
        continue;
      }
      std::int64_t index = 0;
      for (std::size_t d = map.rank; d-- > 0;) {
        const bool is_inside = position.at(d) >= 0 && position.at(d) <= map.last.at(d);
        index = index < 0 || !is_inside ? -1 : index * (map.last.at(d) + 1) + position.at(d);
      }
      visit(number++, index);
    }
  };
  go(map.rank - std::size_t{1});
}

void check_load(const TensorMap& map, const std::vector<int>& at) {
  const Result result = load(map, at);
  std::uint32_t count = 0;
  for_each_element(map, at, [&](std::uint32_t number, std::int64_t index) {
    CAPTURE(number, index);
    REQUIRE(result.shared[number] == (index < 0 ? 0 : static_cast<std::uint32_t>(index) + 1000));
    ++count;
  });
  CHECK(count * 4 == map.box_bytes());
  CHECK(result.shared[count] == kUntouched);
}

// Pixel by pixel, as cuTensorMapEncodeIm2col says, on an H200 compared with the hardware.
void check_pixels(const TensorMap& map, const std::vector<int>& at,
                  const std::vector<int>& offsets) {
  std::string loaded(kLoad);
  loaded.replace(loaded.find("tile"), 4, "im2col");
  const Result result = run(map, fmt::format(R"(
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [barrier], {};
    {} [%r1], [%d1, {{{}}}], [barrier], {{{}}};
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [barrier], 0;
    @!%p2 bra WAIT;)",
                                             map.box_bytes(), of_rank(loaded, map.rank),
                                             coordinates_of(at), coordinates_of(offsets)));
  INFO(result.error.message);
  REQUIRE(result.error.code == DeviceErrorCode::kNone);
  std::vector<int> place = at;
  std::uint32_t number = 0;
  for (std::uint32_t pixel = 0; pixel < map.pixels; ++pixel) {
    for (int channel = 0; channel < map.box[0]; ++channel) {
      std::int64_t index = 0;
      for (std::size_t d = map.rank; d-- > 0;) {
        const int is = d == 0             ? place[0] + channel
                       : d + 1 < map.rank ? place[d] + offsets[d - 1]
                                          : place[d];
        const bool is_inside = is >= 0 && is <= static_cast<int>(map.last.at(d));
        index = index < 0 || !is_inside ? -1 : index * (map.last.at(d) + 1) + is;
      }
      CAPTURE(pixel, channel, index);
      REQUIRE(result.shared[number++] ==
              (index < 0 ? 0 : static_cast<std::uint32_t>(index) + 1000));
    }
    for (std::size_t d = 1; d < map.rank; ++d) {
      place[d] += map.steps.at(d);
      if (d + 1 == map.rank || place[d] <= static_cast<int>(map.last.at(d)) + map.upper.at(d - 1)) {
        break;
      }
      place[d] = map.lower.at(d - 1);
    }
  }
  CHECK(result.shared[number] == kUntouched);
}

TensorMap of_pixels(const std::vector<std::uint32_t>& sizes, std::uint16_t channels,
                    std::uint16_t pixels) {
  TensorMap map = dense(sizes, std::vector<std::uint32_t>(sizes.size(), 1));
  map.box[0] = channels;
  map.pixels = pixels;
  return map;
}

}  // namespace

TEST_CASE("columns of pixels are loaded, with zeros for what is outside the tensor") {
  check_pixels(of_pixels({8, 9, 3}, 4, 12), {4, 2, 0}, {0});
  TensorMap map = of_pixels({4, 6, 5, 3}, 4, 40);
  map.lower = {-1, -1, 0};
  map.upper = {-1, 1, 0};
  check_pixels(map, {0, -1, -1, 0}, {0, 0});
  check_pixels(map, {0, 3, 4, 1}, {2, 1});
  map.steps = {1, 2, 3, 2, 1};
  check_pixels(map, {0, 0, 2, 0}, {1, 0});
  map.pixels = 100;  // beyond the last image
  check_pixels(map, {0, 0, 2, 1}, {1, 2});
  TensorMap deep = of_pixels({4, 3, 3, 4, 2}, 4, 30);
  deep.lower = {-1, 0, -1};
  deep.upper = {0, -1, 1};
  check_pixels(deep, {0, 1, 1, 2, 0}, {1, 0, 1});
}

TEST_CASE("a map of pixels is for copies of pixels alone, and its channels begin a piece") {
  const TensorMap map = of_pixels({8, 9, 3}, 4, 12);
  const auto fails = [&](std::string_view form, std::string_view coordinates,
                         std::string_view offsets) {
    const Result result =
        run(map, fmt::format("mbarrier.arrive.expect_tx.shared::cta.b64 _, [barrier], 192;\n"
                             "cp.async.bulk.tensor.3d.shared::cluster.global.{}."
                             "mbarrier::complete_tx::bytes [%r1], [%d1, {{{}}}], [barrier]{};\n",
                             form, coordinates, offsets));
    return result.error.code != DeviceErrorCode::kNone;
  };
  CHECK_FALSE(fails("im2col", "4, 0, 0", ", {0}"));
  CHECK(fails("tile", "4, 0, 0", ""));
  CHECK(fails("im2col", "2, 0, 0", ", {0}"));
}

TEST_CASE("boxes of one to five dimensions are loaded, with zeros for what is outside the tensor") {
  check_load(dense({100}, {8}), {40});
  check_load(dense({100}, {8}), {-5});
  check_load(dense({100}, {8}), {96});
  check_load(dense({16, 9}, {8, 5}), {4, 2});
  check_load(dense({16, 9}, {8, 5}), {12, 6});
  check_load(dense({16, 9}, {8, 5}), {-3, -4});
  check_load(dense({16, 9}, {8, 5}), {16, 0});
  check_load(dense({8, 6, 5}, {4, 3, 2}), {6, 4, 4});
  check_load(dense({8, 4, 3, 3}, {4, 2, 2, 2}), {-2, 3, -1, 2});
  check_load(dense({8, 4, 3, 3, 2}, {4, 2, 2, 2, 2}), {5, -1, 2, 1, 1});
}

TEST_CASE("a box takes every so many elements of a dimension") {
  TensorMap map = dense({16, 20, 4}, {4, 7, 3});
  map.steps = {1, 2, 3, 1, 1};
  check_load(map, {4, 3, 1});
  check_load(map, {14, -2, 0});
  check_load(map, {0, 15, 3});
}

TEST_CASE("a swizzle gives the pieces of a box their places") {
  const auto check = [](TensorSwizzle swizzle, std::uint32_t row_bytes, std::uint32_t bits) {
    TensorMap map = dense({64, 16}, {row_bytes / 4, 16});
    map.swizzle = swizzle;
    const Result result = load(map, {4, 0});
    for_each_element(map, {4, 0}, [&](std::uint32_t number, std::int64_t index) {
      // PTX ISA: bits 4… of the address are combined with those from 7. Each row has a line.
      const std::uint32_t line = (bits + 1) * 16;
      const std::uint32_t byte = number * 4 / row_bytes * line + number * 4 % row_bytes;
      const std::uint32_t place = byte ^ (byte >> 7 & bits) << 4;
      REQUIRE(result.shared[place / 4] == static_cast<std::uint32_t>(index) + 1000);
    });
  };
  check(TensorSwizzle::k32Bytes, 32, 1);
  check(TensorSwizzle::k64Bytes, 64, 3);
  check(TensorSwizzle::k128Bytes, 128, 7);
  check(TensorSwizzle::k128Bytes, 64, 7);
  check(TensorSwizzle::k32Bytes, 16, 1);
}

TEST_CASE("what is outside is filled with NaN where the map says so") {
  TensorMap map = dense({16, 4}, {8, 2});
  map.element = TensorElement::kF32;
  map.fills_with_nan = true;
  const Result result = load(map, {12, 3});
  CHECK(result.shared[0] == 1000 + 3 * 16 + 12);
  CHECK(result.shared[4] == 0x7FF77FF7);
  CHECK(result.shared[15] == 0x7FF77FF7);
  CHECK(result.shared[16] == kUntouched);
}

TEST_CASE("boxes are stored, and added, but for what is outside the tensor") {
  const TensorMap map = dense({16, 9}, {8, 5});
  for (const bool adds : {false, true}) {
    for (const std::vector<int>& at :
         {std::vector{4, 2}, std::vector{12, 6}, std::vector{-4, -2}}) {
      const Result result = store(map, at, adds ? kAdd : kStore);
      std::vector<std::uint32_t> expected(result.tensor.size());
      for (std::uint32_t i = 0; i < expected.size(); ++i) {
        expected[i] = i + 1000;
      }
      for_each_element(map, at, [&](std::uint32_t number, std::int64_t index) {
        if (index >= 0) {
          std::uint32_t& element = expected.at(static_cast<std::size_t>(index));
          element = (adds ? element : 0) + 5 + 3 * number;
        }
      });
      REQUIRE(result.tensor == expected);
    }
  }
}

TEST_CASE("a swizzled box is stored as it was loaded") {
  TensorMap map = dense({32, 8}, {32, 8});
  map.swizzle = TensorSwizzle::k128Bytes;
  const Result result = store(map, {0, 0});
  for (std::uint32_t i = 0; i < 256; ++i) {
    const std::uint32_t place = (i * 4 ^ (i * 4 >> 7 & 7) << 4) / 4;
    REQUIRE(result.tensor[i] == 5 + 3 * place);
  }
}

TEST_CASE("prefetches of boxes and of maps do nothing") {
  const Result result = run(dense({16, 9}, {8, 5}), R"(
    cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%d1, {0, 0}];
    prefetch.tensormap [%d1];
)");
  INFO(result.error.message);
  CHECK(result.error.code == DeviceErrorCode::kNone);
}

TEST_CASE("copies by what is no map, by another rank or to other alignments end the kernel") {
  const auto code = [](int rank, int shared, int map, const char* at) {
    return run(dense({16, 9}, {8, 5}), fmt::format("{} [%r1+{}], [%d1+{}, {{{}}}], [barrier];\n",
                                                   of_rank(kLoad, rank), shared, map, at))
        .error.code;
  };
  CHECK(code(2, 128, 0, "0, 0") == DeviceErrorCode::kNone);
  CHECK(code(3, 0, 0, "0, 0, 0") == DeviceErrorCode::kIllegalInstruction);
  CHECK(code(2, 0, -128, "0, 0") == DeviceErrorCode::kIllegalInstruction);
  CHECK(code(2, 16, 0, "0, 0") == DeviceErrorCode::kMisalignedAddress);
  CHECK(code(2, 0, 16, "0, 0") == DeviceErrorCode::kMisalignedAddress);
  CHECK(code(2, 8192, 0, "0, 0") == DeviceErrorCode::kIllegalAddress);
}

TEST_CASE("a tensor that is larger than its memory ends the kernel where its box leaves that") {
  TensorMap map = dense({16, 9}, {8, 5});
  map.strides[0] = 1 << 20;
  CHECK(run(map, fmt::format("{} [%d1, {{0, 0}}], [%r1];\n", kStore)).error.code ==
        DeviceErrorCode::kIllegalAddress);
}
