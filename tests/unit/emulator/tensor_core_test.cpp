// tcgen05: products of small integers, which every type holds exactly, against a plain triple loop.
// Where the elements of a tile lie is written out here by hand.
#include <bit>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "emulator/execute/fp8.h"
#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::shape;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 kThreads = 128;
constexpr u32 kTileB = 16384;   // where B begins in shared memory, behind the largest A
constexpr u32 kColumnsOfA = 8;  // in tensor memory
constexpr u32 kTransposedA = 1U << 15, kTransposedB = 1U << 16, kNegatedA = 1U << 13;

struct Element {
  u32 bytes = 0;
  std::function<u64(int)> encode;
};

u64 single(int v) {
  return std::bit_cast<u32>(static_cast<float>(v));
}

const Element kF16{
    2, [](int v) { return u64{std::bit_cast<std::uint16_t>(static_cast<_Float16>(v))}; }};
const Element kBf16{2, [](int v) { return single(v) >> 16; }};
const Element kSingle{4, single};
const Element kE4m3{1, [](int v) { return u64{to_e4m3(static_cast<float>(v))}; }};
const Element kE5m2{1, [](int v) { return u64{to_e5m2(static_cast<float>(v))}; }};
const Element kInt8{1, [](int v) { return static_cast<u64>(v) & 0xff; }};
const Element kInt32{4, [](int v) { return static_cast<u64>(v) & 0xffffffff; }};

// Byte `byte` of K of a row, or of an element that lies transposed; the descriptor without start.
struct Layout {
  u64 descriptor = 0;
  std::function<u32(u32 row, u32 byte)> at;
};

u64 descriptor(u64 leading, u64 stride, u64 mode) {
  return leading >> 4 << 16 | stride >> 4 << 32 | u64{1} << 46 | mode << 61;
}

Layout plain() {
  return {descriptor(128, 256, 0), [](u32 row, u32 byte) {
            return row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16;
          }};
}

Layout swizzled_128() {
  return {descriptor(16, 1024, 2),
          [](u32 row, u32 byte) { return row * 128 + (byte / 16 ^ row % 8) * 16 + byte % 16; }};
}

Layout swizzled_32() {
  return {descriptor(16, 256, 6),
          [](u32 row, u32 byte) { return row * 32 + (byte / 16 ^ row / 4 % 2) * 16 + byte % 16; }};
}

// The elements of one k lie together, sixteen bytes to a unit.
Layout transposed(u32 rows, u32 bytes) {
  const u32 of_unit = 16 / bytes, apart = rows / of_unit * 128;
  return {descriptor(apart, 128, 0), [=](u32 row, u32 byte) {
            const u32 k = byte / bytes;
            return row / of_unit * 128 + k / 8 * apart + k % 8 * 16 + row % of_unit * bytes +
                   byte % bytes;
          }};
}

struct Product {
  std::string kind = "f16";
  u32 m = 128, n = 16;
  Element a = kF16, b = kF16, sum = kSingle;
  u32 formats = 1U << 4;  // of the instruction descriptor
  Layout of_a = plain(), of_b = plain();
  bool is_in_tensor_memory = false;  // A
  bool adds = true;
  bool is_unsigned = false;

  [[nodiscard]] u32 depth() const { return 32 / a.bytes; }

  [[nodiscard]] u32 descriptor() const { return formats | n / 8 << 17 | m / 16 << 24; }
};

int a_value(const Product& p, u32 row, u32 k) {
  const int value = static_cast<int>((row * 3 + k * 5 + row / 64) % 7) - 3;
  return p.is_unsigned ? value + 3 : value;
}

int b_value(const Product& p, u32 k, u32 column) {
  const int value = static_cast<int>((column * 2 + k * 7) % 5) - 2;
  return p.is_unsigned ? value + 2 : value;
}

int c_value(u32 row, u32 column) {
  return static_cast<int>((row + 2 * column) % 9) - 4;
}

int expected(const Product& p, u32 row, u32 column) {
  int sum = 0;
  for (u32 k = 0; k < p.depth(); ++k) {
    sum += a_value(p, row, k) * b_value(p, k, column);
  }
  return (p.adds ? c_value(row, column) : 0) + ((p.formats & kNegatedA) != 0 ? -sum : sum);
}

void put(std::vector<std::uint8_t>& image, u32 at, const Element& element, int value) {
  const u64 bits = element.encode(value);
  for (u32 byte = 0; byte < element.bytes; ++byte) {
    image.at(at + byte) = static_cast<std::uint8_t>(bits >> 8 * byte);
  }
}

// Shared memory with both tiles.
std::vector<std::uint8_t> image_of(const Product& p) {
  std::vector<std::uint8_t> image(kTileB + std::size_t{p.n} * (p.n > 64 ? 32 : 128) + 2048, 0x5A);
  for (u32 k = 0; k < p.depth(); ++k) {
    for (u32 row = 0; row < p.m; ++row) {
      put(image, p.of_a.at(row, k * p.a.bytes), p.a, a_value(p, row, k));
    }
    for (u32 column = 0; column < p.n; ++column) {
      put(image, kTileB + p.of_b.at(column, k * p.b.bytes), p.b, b_value(p, k, column));
    }
  }
  return image;
}

// Parameters: the image of shared memory, the words of tensor memory row by row (C, then A), both
// descriptors, that of the instruction.
std::string text_of(const Product& p, std::size_t bytes, std::string_view issued = "") {
  const u32 words = p.n + kColumnsOfA;
  std::string text = fmt::format(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 image, .param .u64 words, .param .u64 da, .param .u64 db, .param .u32 di)
{{
  .shared .align 1024 .b8 tiles[{0}];
  .shared .align 8 .b64 done;
  .shared .align 4 .b32 place;
  .reg .pred %p<4>; .reg .b32 %t<12>; .reg .b32 %x0; .reg .b64 %d<12>;
  ld.param.u64 %d0, [image];
  ld.param.u64 %d1, [words];
  ld.param.u64 %d3, [da];
  ld.param.u64 %d4, [db];
  ld.param.u32 %t8, [di];
  mov.u32 %t0, %tid.x;
  mov.u32 %t1, tiles;
  setp.ge.u32 %p0, %t0, 32;
  @%p0 bra allocated;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 512;
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
allocated:
  setp.ne.u32 %p2, %t0, 0;
  @!%p2 mbarrier.init.shared::cta.b64 [done], 1;
  shl.b32 %t2, %t0, 2;
copy:
  cvt.u64.u32 %d5, %t2;
  add.u64 %d6, %d0, %d5;
  ld.global.b32 %t3, [%d6];
  add.u32 %t4, %t1, %t2;
  st.shared.b32 [%t4], %t3;
  add.u32 %t2, %t2, 512;
  setp.lt.u32 %p1, %t2, {0};
  @%p1 bra copy;
  fence.proxy.async;
  bar.sync 0;
  shr.u32 %t5, %t1, 4;
  cvt.u64.u32 %d7, %t5;
  add.u64 %d3, %d3, %d7;
  add.u64 %d4, %d4, %d7;
  ld.shared.b32 %t6, [place];
  and.b32 %t7, %t0, 0x60;
  shl.b32 %t7, %t7, 16;
  add.u32 %t7, %t7, %t6;
  mul.wide.u32 %d8, %t0, {1};
  add.u64 %d1, %d1, %d8;
  setp.{2}.u32 %p3, %t0, 1000;
)",
                                 bytes, 4 * words, p.adds ? "lt" : "gt");
  for (u32 i = 0; i < words; ++i) {
    text += fmt::format(
        "  ld.global.b32 %x0, [%d1+{}];\n"
        "  tcgen05.st.sync.aligned.32x32b.x1.b32 [%t7+{}], {{%x0}};\n",
        4 * i, i);
  }
  text += "  tcgen05.wait::st.sync.aligned;\n  tcgen05.fence::before_thread_sync;\n  bar.sync 0;\n";
  text += "  tcgen05.fence::after_thread_sync;\n  @%p2 bra issued;\n";
  text += issued.empty()
              ? fmt::format("  tcgen05.mma.cta_group::1.kind::{} [%t6], {}, %d4, %t8, %p3;\n",
                            p.kind, p.is_in_tensor_memory ? fmt::format("[%t6+{}]", p.n) : "%d3")
              : fmt::format("  {}\n", issued);
  text +=
      "  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\nissued:\n"
      "  mbarrier.test_wait.parity.shared::cta.b64 %p1, [done], 0;\n  @!%p1 bra issued;\n"
      "  tcgen05.fence::after_thread_sync;\n";
  for (u32 i = 0; i < words; ++i) {
    text += fmt::format(
        "  tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%x0}}, [%t7+{}];\n"
        "  tcgen05.wait::ld.sync.aligned;\n  st.global.b32 [%d1+{}], %x0;\n",
        i, 4 * i);
  }
  return text +
         "  tcgen05.fence::before_thread_sync;\n  bar.sync 0;\n  @%p0 bra freed;\n"
         "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t6, 512;\nfreed:\n  ret;\n}\n";
}

// The row of the product that a thread's row of tensor memory has, if any.
bool has_row(const Product& p, u32 thread, u32& row) {
  row = p.m == 128 ? thread : thread / 32 * 16 + thread % 32;
  return p.m == 128 || thread % 32 < 16;
}

// Tensor memory before and after.
struct Words {
  std::vector<u32> before, after;
};

Words words_of(const Product& p) {
  Words words;
  for (u32 thread = 0; thread < kThreads; ++thread) {
    u32 row = 0;
    const bool is_of_product = has_row(p, thread, row);
    for (u32 column = 0; column < p.n; ++column) {
      words.before.push_back(is_of_product ? static_cast<u32>(p.sum.encode(c_value(row, column)))
                                           : 77);
      words.after.push_back(is_of_product ? static_cast<u32>(p.sum.encode(expected(p, row, column)))
                                          : 77);
    }
    for (u32 column = 0; column < kColumnsOfA; ++column) {
      u64 word = 0;
      for (u32 part = 0; part < 4 / p.a.bytes; ++part) {
        word |= p.a.encode(a_value(p, row, column * (4 / p.a.bytes) + part))
                << part * 8 * p.a.bytes;
      }
      words.before.push_back(static_cast<u32>(word));
      words.after.push_back(static_cast<u32>(word));
    }
  }
  return words;
}

DeviceError run(const Product& p, std::vector<u32>& words, std::string_view issued = "") {
  const std::vector<std::uint8_t> image = image_of(p);
  Device device(text_of(p, image.size(), issued));
  const u64 at = device.buffer(words);
  const DeviceError error =
      device.run("k", shape({1}, {kThreads}), device.buffer(image), at, p.of_a.descriptor,
                 p.of_b.descriptor + (kTileB >> 4), p.descriptor());
  words = device.read<u32>(at, words.size());
  return error;
}

void check(const Product& p) {
  INFO(p.kind << " " << p.m << " x " << p.n << " A " << p.of_a.descriptor << " B "
              << p.of_b.descriptor << " " << p.descriptor());
  Words words = words_of(p);
  const DeviceError error = run(p, words.before);
  INFO(error.message);
  REQUIRE(error.code == DeviceErrorCode::kNone);
  CHECK(words.before == words.after);
}

// Its launch ends, and the message has these words.
void check_refused(const Product& p, std::string_view words, std::string_view issued = "") {
  std::vector<u32> memory = words_of(p).before;
  const DeviceError error = run(p, memory, issued);
  INFO(error.message);
  CHECK(error.code != DeviceErrorCode::kNone);
  CHECK(error.message.find("tcgen05") != std::string::npos);
  CHECK(error.message.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("a product of halves is added to tensor memory, or replaces it") {
  for (const bool adds : {true, false}) {
    for (const u32 m : {64U, 128U}) {
      Product p;
      p.m = m;
      p.adds = adds;
      check(p);
    }
  }
  Product wide;
  wide.n = 256;
  check(wide);
  Product narrow;
  narrow.m = 64;
  narrow.n = 8;
  check(narrow);
}

TEST_CASE("products of each type that wgmma has") {
  Product p;
  p.a = p.b = kBf16;
  p.formats = 1U << 4 | 1U << 7 | 1U << 10;
  check(p);
  p.a = kF16;
  p.formats = 1U << 4 | 1U << 10;
  check(p);
  p.kind = "tf32";
  p.a = p.b = kSingle;
  p.formats = 1U << 4 | 2U << 7 | 2U << 10;
  check(p);
  p.kind = "f8f6f4";
  p.a = kE4m3;
  p.b = kE5m2;
  p.formats = 1U << 4 | 1U << 10;
  check(p);
  p.formats |= kNegatedA;
  check(p);
  p.kind = "i8";
  p.a = p.b = kInt8;
  p.sum = kInt32;
  p.formats = 2U << 4 | 1U << 7 | 1U << 10;
  check(p);
  p.formats = 2U << 4;
  p.is_unsigned = true;
  check(p);
}

TEST_CASE("products of tiles in other layouts") {
  Product p;
  p.of_a = p.of_b = swizzled_128();
  check(p);
  p.of_a = swizzled_32();
  check(p);
  p.of_b = transposed(p.n, 2);
  p.formats |= kTransposedB;
  check(p);
  p.of_a = transposed(p.m, 2);
  p.formats |= kTransposedA;
  check(p);
  Product bytes;
  bytes.kind = "i8";
  bytes.a = bytes.b = kInt8;
  bytes.sum = kInt32;
  bytes.formats = 2U << 4 | 1U << 7 | 1U << 10 | kTransposedA | kTransposedB;
  bytes.of_a = transposed(bytes.m, 1);
  bytes.of_b = transposed(bytes.n, 1);
  check(bytes);
}

TEST_CASE("A may lie in tensor memory") {
  Product p;
  p.is_in_tensor_memory = true;
  p.of_a = {0, [](u32 row, u32 byte) { return row * 32 + byte; }};  // of no account
  check(p);
  p.kind = "f8f6f4";
  p.a = p.b = kE4m3;
  check(p);
}

TEST_CASE("a copy to tensor memory has a row of shared memory in each of its rows") {
  Product p;
  std::vector<u32> words = words_of(p).before;
  const std::vector<u32> before = words;
  const DeviceError error = run(p, words, "tcgen05.cp.cta_group::1.128x256b [%t6], %d3;");
  INFO(error.message);
  REQUIRE(error.code == DeviceErrorCode::kNone);
  const u32 of_row = p.n + kColumnsOfA;
  for (u32 row = 0; row < kThreads; ++row) {
    for (u32 column = 0; column < of_row; ++column) {
      // What C had in its first columns is now A, which lies behind C too.
      const std::size_t at = std::size_t{row} * of_row + column;
      CHECK(words[at] == before[column < kColumnsOfA ? at + p.n : at]);
    }
  }
  words = before;
  REQUIRE(run(p, words, "tcgen05.cp.cta_group::1.32x128b.warpx4 [%t6], %d3;").code ==
          DeviceErrorCode::kNone);
  for (u32 row = 0; row < kThreads; ++row) {
    CHECK(words[std::size_t{row} * of_row + 3] == before[std::size_t{row % 32} * of_row + p.n + 3]);
    CHECK(words[std::size_t{row} * of_row + 4] == before[std::size_t{row} * of_row + 4]);
  }
}

TEST_CASE("what is not executed of tcgen05 ends the kernel by name") {
  const Product p;
  for (const auto& [issued, words] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"tcgen05.mma.cta_group::2.kind::f16 [%t6], %d3, %d4, %t8, %p3;", "cta_group::2"},
           {"tcgen05.mma.ws.cta_group::1.kind::f16 [%t6], %d3, %d4, %t8, %p3;", "tcgen05.mma.ws"},
           {"tcgen05.mma.sp.cta_group::1.kind::f16 [%t6], %d3, %d4, [%t6], %t8, %p3;", "sparse"},
           {"tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%t6], %d3, %d4, %t8, "
            "[%t6], [%t6], %p3;",
            "scales of blocks"},
           {"tcgen05.mma.cta_group::1.kind::f16 [%t6], %d3, %d4, %t8, {%t8, %t8, %t8, %t8}, %p3;",
            "left out"},
           {"tcgen05.mma.cta_group::1.kind::f16 [%t6], %d3, %d4, %t8, %p3, 3;", "scale of D"},
           {"tcgen05.shift.cta_group::1.down [%t6];", "tcgen05.shift"},
           {"tcgen05.cp.cta_group::1.4x256b [%t6], %d3;", "shape"},
           {"tcgen05.ld.sync.aligned.16x64b.x1.b32 {%x0}, [%t6];", "32x32b"}}) {
    INFO(issued);
    check_refused(p, words, issued);
  }
}

TEST_CASE("a product whose descriptors are not known ends the kernel") {
  Product p;
  p.m = 32;
  check_refused(p, "matrices");
  Product halves;
  halves.formats = 0;  // sums of half precision
  check_refused(halves, "types");
  Product address;
  address.of_a.descriptor |= u64{1} << 52;
  check_refused(address, "matrices");
}

TEST_CASE("tensor memory that was not allocated, or is another warp's, is not used") {
  const Product p;
  check_refused(p, "not allocated",
                "add.u32 %t6, %t6, 504;\ntcgen05.mma.cta_group::1.kind::f16 [%t6], %d3, %d4, %t8, "
                "%p3;");
  check_refused(p, "lane of tensor memory",
                "tcgen05.mma.cta_group::1.kind::f16 [%t6+1048576], %d3, %d4, %t8, %p3;");
}

TEST_CASE("columns are given once, and come back when they are freed") {
  const auto text = [](std::string_view body) {
    return fmt::format(
        ".version 8.7\n.target sm_100a\n.address_size 64\n"
        ".visible .entry k()\n{{\n.shared .align 4 .b32 place;\n.reg .b32 %t<4>;\n{}ret;\n}}\n",
        body);
  };
  const std::string give =
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 256;\n"
      "ld.shared.b32 %t0, [place];\n";
  const std::string free = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t0, 256;\n";
  const auto run_text = [&](const std::string& body) {
    Device device(text(body));
    return device.run("k", shape({1}, {32}));
  };
  CHECK(run_text(give + give).code == DeviceErrorCode::kNone);
  CHECK(run_text(give + give + free + give).code == DeviceErrorCode::kNone);
  CHECK(run_text(give + give + give).message.find("no room") != std::string::npos);
  CHECK(run_text(give + free + free).message.find("were freed") != std::string::npos);
  CHECK(run_text("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 48;\n")
            .message.find("48 columns") != std::string::npos);
}
