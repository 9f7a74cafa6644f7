// wgmma: products of small integers, which every type holds exactly, against a plain triple loop.
// Where the elements of a tile lie is written out here by hand, for each layout.
#include <bit>
#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "emulator/execute/fp8.h"
#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::shape;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 kThreads = 128, kRows = 64;
constexpr u32 kTileB = 8192;  // where B begins in shared memory, behind the largest A

struct Element {
  u32 bytes = 0;
  std::function<u64(int)> encode;
};

u64 single(int v) {
  return std::bit_cast<u32>(static_cast<float>(v));
}

u64 half(int v) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(v));
}

const Element kF16{2, half};
const Element kBf16{2, [](int v) { return single(v) >> 16; }};
const Element kTf32{4, single};
const Element kF32{4, single};
const Element kE4m3{1, [](int v) { return u64{to_e4m3(static_cast<float>(v))}; }};
const Element kE5m2{1, [](int v) { return u64{to_e5m2(static_cast<float>(v))}; }};
const Element kInt8{1, [](int v) { return static_cast<u64>(v) & 0xff; }};
const Element kS32{4, [](int v) { return static_cast<u64>(v) & 0xffffffff; }};

// Byte `byte` of K of a row, and the descriptor without its start.
struct Layout {
  u64 descriptor = 0;
  std::function<u32(u32 row, u32 byte)> at;
};

u64 descriptor(u64 leading, u64 stride, u64 mode) {
  return leading >> 4 << 16 | stride >> 4 << 32 | mode << 62;
}

Layout plain() {
  return {descriptor(128, 256, 0), [](u32 row, u32 byte) {
            return row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16;
          }};
}

Layout swizzled_32() {
  return {descriptor(16, 256, 3),
          [](u32 row, u32 byte) { return row * 32 + (byte / 16 ^ row / 4 % 2) * 16 + byte % 16; }};
}

Layout swizzled_64() {
  return {descriptor(16, 512, 2),
          [](u32 row, u32 byte) { return row * 64 + (byte / 16 ^ row / 2 % 4) * 16 + byte % 16; }};
}

Layout swizzled_128() {
  return {descriptor(16, 1024, 1),
          [](u32 row, u32 byte) { return row * 128 + (byte / 16 ^ row % 8) * 16 + byte % 16; }};
}

// Transposed, of two bytes: the elements of one k lie together.
Layout transposed(u32 rows) {
  return {descriptor(rows / 8 * 128, 128, 0), [rows](u32 row, u32 byte) {
            const u32 k = byte / 2;
            return row / 8 * 128 + k / 8 * (rows / 8 * 128) + k % 8 * 16 + row % 8 * 2 + byte % 2;
          }};
}

Layout transposed_128() {
  return {descriptor(2048, 1024, 1), [](u32 row, u32 byte) {
            const u32 k = byte / 2;
            return row / 64 * 2048 + k * 128 + (row / 8 % 8 ^ k % 8) * 16 + row % 8 * 2 + byte % 2;
          }};
}

Layout transposed_64() {
  return {descriptor(1024, 512, 2), [](u32 row, u32 byte) {
            const u32 k = byte / 2;
            return row / 32 * 1024 + k * 64 + (row / 8 % 4 ^ k / 2 % 4) * 16 + row % 8 * 2 +
                   byte % 2;
          }};
}

Layout transposed_32() {
  return {descriptor(512, 256, 3), [](u32 row, u32 byte) {
            const u32 k = byte / 2;
            return row / 16 * 512 + k * 32 + (row / 8 % 2 ^ k / 4 % 2) * 16 + row % 8 * 2 +
                   byte % 2;
          }};
}

struct Product {
  std::string text;  // the instruction's name
  u32 n = 8, k = 16;
  Element a, b, sum;
  std::string immediates = ", 1, 1, 0, 0";
  Layout of_a = plain(), of_b = plain();
  bool has_registers = false;
  int sign = 1;
  bool adds = true;
  bool is_unsigned = false;
};

int a_value(const Product& p, u32 row, u32 k) {
  const int value = static_cast<int>((row * 3 + k * 5) % 7) - 3;
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
  for (u32 k = 0; k < p.k; ++k) {
    sum += a_value(p, row, k) * b_value(p, k, column);
  }
  return (p.adds ? c_value(row, column) : 0) + p.sign * sum;
}

struct Place {
  u32 row = 0, column = 0;
};

// Value i of a thread's D, as the manual gives it.
Place place_of_sum(u32 thread, u32 i) {
  const u32 warp = thread / 32, lane = thread % 32;
  return {.row = 16 * warp + lane / 4 + 8 * (i / 2 % 2),
          .column = 8 * (i / 4) + 2 * (lane % 4) + i % 2};
}

// Value i of a thread's A of elements of which a register holds `parts`.
Place place_of_a(u32 thread, u32 i, u32 parts) {
  const u32 warp = thread / 32, lane = thread % 32, number = i / parts;
  return {.row = 16 * warp + lane / 4 + 8 * (number % 2),
          .column = lane % 4 * parts + i % parts + 4 * parts * (number / 2)};
}

void put(std::vector<std::uint8_t>& image, u32 at, const Element& element, int value) {
  const u64 bits = element.encode(value);
  for (u32 byte = 0; byte < element.bytes; ++byte) {
    image.at(at + byte) = static_cast<std::uint8_t>(bits >> 8 * byte);
  }
}

// Shared memory with both tiles.
std::vector<std::uint8_t> image_of(const Product& p) {
  std::vector<std::uint8_t> image(kTileB + std::size_t{p.n} * 128 + 1024, 0x5A);
  for (u32 k = 0; k < p.k; ++k) {
    for (u32 row = 0; row < kRows; ++row) {
      put(image, p.of_a.at(row, k * p.a.bytes), p.a, a_value(p, row, k));
    }
    for (u32 column = 0; column < p.n; ++column) {
      put(image, kTileB + p.of_b.at(column, k * p.b.bytes), p.b, b_value(p, k, column));
    }
  }
  return image;
}

std::string registers(std::string_view name, u32 count) {
  std::string text = "{";
  for (u32 i = 0; i < count; ++i) {
    text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  }
  return text + "}";
}

// Parameters: the image of shared memory, the words of D, those of A's registers, both descriptors.
std::string text_of(const Product& p, u32 words, std::size_t bytes) {
  std::string text = fmt::format(R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 image, .param .u64 sums, .param .u64 left, .param .u64 da, .param .u64 db)
{{
  .shared .align 1024 .b8 tiles[{0}];
  .reg .pred %p<3>; .reg .b32 %t<9>; .reg .b32 %x<{1}>; .reg .b32 %y<4>; .reg .b64 %d<12>;
  ld.param.u64 %d0, [image];
  ld.param.u64 %d1, [sums];
  ld.param.u64 %d2, [left];
  ld.param.u64 %d3, [da];
  ld.param.u64 %d4, [db];
  mov.u32 %t0, %tid.x;
  mov.u32 %t1, tiles;
  shl.b32 %t2, %t0, 2;
copy:
  cvt.u64.u32 %d5, %t2;
  add.u64 %d6, %d0, %d5;
  ld.global.b32 %t3, [%d6];
  add.u32 %t4, %t1, %t2;
  st.shared.b32 [%t4], %t3;
  add.u32 %t2, %t2, 512;
  setp.lt.u32 %p0, %t2, {0};
  @%p0 bra copy;
  fence.proxy.async;
  bar.sync 0;
  shr.u32 %t5, %t1, 4;
  cvt.u64.u32 %d7, %t5;
  add.u64 %d3, %d3, %d7;
  add.u64 %d4, %d4, %d7;
  mul.wide.u32 %d8, %t0, {2};
  add.u64 %d1, %d1, %d8;
  mul.wide.u32 %d9, %t0, 16;
  add.u64 %d2, %d2, %d9;
  setp.{3}.u32 %p1, %t0, 1000;
)",
                                 bytes, words, 4 * words, p.adds ? "lt" : "gt");
  for (u32 i = 0; i < words; ++i) {
    text += fmt::format("  ld.global.b32 %x{}, [%d1+{}];\n", i, 4 * i);
  }
  for (u32 i = 0; i < 4; ++i) {
    text += fmt::format("  ld.global.b32 %y{}, [%d2+{}];\n", i, 4 * i);
  }
  text += "  wgmma.fence.sync.aligned;\n";
  text += fmt::format("  {} {}, {}, %d4, %p1{};\n", p.text, registers("x", words),
                      p.has_registers ? registers("y", 4) : "%d3", p.immediates);
  text += "  wgmma.commit_group.sync.aligned;\n";
  text += "  wgmma.wait_group.sync.aligned 0;\n";
  for (u32 i = 0; i < words; ++i) {
    text += fmt::format("  st.global.b32 [%d1+{}], %x{};\n", 4 * i, i);
  }
  return text + "  ret;\n}\n";
}

void check(const Product& p) {
  INFO(p.text << p.immediates << " A " << p.of_a.descriptor << " B " << p.of_b.descriptor);
  const std::vector<std::uint8_t> image = image_of(p);
  const u32 values = p.n / 2, parts = 4 / p.sum.bytes, words = values / parts;
  std::vector<u32> sums(std::size_t{kThreads} * words, 0), left(std::size_t{kThreads} * 4, 0);
  std::vector<u32> wanted = sums;
  const u32 of_a = 4 / p.a.bytes;
  for (u32 thread = 0; thread < kThreads; ++thread) {
    for (u32 i = 0; i < values; ++i) {
      const Place place = place_of_sum(thread, i);
      const std::size_t word = std::size_t{thread} * words + i / parts;
      const u32 shift = i % parts * 16;
      sums[word] |= static_cast<u32>(p.sum.encode(c_value(place.row, place.column))) << shift;
      wanted[word] |= static_cast<u32>(p.sum.encode(expected(p, place.row, place.column))) << shift;
    }
    for (u32 i = 0; i < 4 * of_a; ++i) {
      const Place place = place_of_a(thread, i, of_a);
      left[std::size_t{thread} * 4 + i / of_a] |=
          static_cast<u32>(p.a.encode(a_value(p, place.row, place.column)))
          << i % of_a * 8 * p.a.bytes;
    }
  }
  Device device(text_of(p, words, image.size()));
  const u64 at = device.buffer(sums);
  device.run_well("k", shape({1}, {kThreads}), device.buffer(image), at, device.buffer(left),
                  p.of_a.descriptor, p.of_b.descriptor + (kTileB >> 4));
  CHECK(device.read<u32>(at, sums.size()) == wanted);
}

Product halves() {
  return {.text = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
          .a = kF16,
          .b = kF16,
          .sum = kF32};
}

// Sixteen times one times one in each sum. `late`: what the last warp does before its product;
// behind the wait the other warps put zeros into B.
std::string refilling_text(std::string_view late) {
  return fmt::format(R"(.version 8.0
.target sm_90a
.address_size 64
.shared .align 128 .b8 tiles[2560];
.visible .entry k(.param .u64 out)
{{
  .reg .pred %p<4>; .reg .b32 %r<8>, %x<4>, %t0; .reg .b64 %d<6>;
  ld.param.u64 %d1, [out];
  mov.u32 %t0, %tid.x;
  mul.wide.u32 %d2, %t0, 4;
  add.u64 %d1, %d1, %d2;
  mov.u32 %r1, tiles;
  cvt.u32.u64 %r2, %d2;
  add.u32 %r2, %r1, %r2;
  mov.u32 %r3, 0x3C003C00;
  st.shared.b32 [%r2], %r3;
  st.shared.b32 [%r2+512], %r3;
  st.shared.b32 [%r2+1024], %r3;
  st.shared.b32 [%r2+1536], %r3;
  st.shared.b32 [%r2+2048], %r3;
  fence.proxy.async;
  bar.sync 0;
  shr.u32 %r1, %r1, 4;
  cvt.u64.u32 %d3, %r1;
  add.u64 %d3, %d3, 0x1000080000;
  add.u64 %d4, %d3, 128;
  mov.b32 %x0, 0;
  mov.b32 %x1, 0;
  mov.b32 %x2, 0;
  mov.b32 %x3, 0;
  mov.b32 %r4, 0;
  setp.lt.u32 %p1, %t0, 96;
  @%p1 bra PRODUCT;
{}
PRODUCT:
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%x0, %x1, %x2, %x3}}, %d3, %d4, 1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  mov.b32 %r5, 0;
  @%p1 st.shared.b32 [%r2+2048], %r5;
  st.global.b32 [%d1], %x0;
  ret;
}}
)",
                     late);
}

}  // namespace

TEST_CASE("a warpgroup multiplies matrices of every type") {
  check(halves());
  const std::string name = "wgmma.mma_async.sync.aligned.";
  check({.text = name + "m64n16k16.f16.f16.f16", .n = 16, .a = kF16, .b = kF16, .sum = kF16});
  check({.text = name + "m64n24k16.f32.bf16.bf16", .n = 24, .a = kBf16, .b = kBf16, .sum = kF32});
  const std::string signs = ", 1, 1";
  check({.text = name + "m64n8k8.f32.tf32.tf32",
         .k = 8,
         .a = kTf32,
         .b = kTf32,
         .sum = kF32,
         .immediates = signs});
  check({.text = name + "m64n32k32.f32.e4m3.e5m2",
         .n = 32,
         .k = 32,
         .a = kE4m3,
         .b = kE5m2,
         .sum = kF32,
         .immediates = signs});
  check({.text = name + "m64n8k32.f16.e5m2.e4m3",
         .k = 32,
         .a = kE5m2,
         .b = kE4m3,
         .sum = kF16,
         .immediates = signs});
  check({.text = name + "m64n16k32.s32.s8.s8",
         .n = 16,
         .k = 32,
         .a = kInt8,
         .b = kInt8,
         .sum = kS32,
         .immediates = ""});
  check({.text = name + "m64n8k32.satfinite.s32.u8.u8",
         .k = 32,
         .a = kInt8,
         .b = kInt8,
         .sum = kS32,
         .immediates = "",
         .is_unsigned = true});
}

TEST_CASE("a warpgroup finds its matrices in every layout") {
  const Layout deep[] = {plain(), swizzled_32(), swizzled_64(), swizzled_128()};
  for (const Layout& a : deep) {
    for (const Layout& b : deep) {
      Product product = halves();
      product.of_a = a;
      product.of_b = b;
      check(product);
    }
  }
  Product wide = halves();
  wide.text = "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16";
  wide.n = 256;
  wide.of_b = swizzled_128();
  check(wide);
  const Layout of_rows[] = {transposed(kRows), transposed_32(), transposed_64(), transposed_128()};
  for (const Layout& a : of_rows) {
    Product product = halves();
    product.of_a = a;
    product.immediates = ", 1, 1, 1, 0";
    check(product);
  }
  const Layout of_columns[] = {transposed(128), transposed_32(), transposed_64(), transposed_128()};
  for (const Layout& b : of_columns) {
    Product product = halves();
    product.text = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16";
    product.n = 128;
    product.of_b = b;
    product.immediates = ", 1, 1, 0, 1";
    check(product);
  }
}

TEST_CASE("A may lie in registers") {
  Product product = halves();
  product.has_registers = true;
  product.immediates = ", 1, 1, 0";
  check(product);
  product.of_b = transposed(8);
  product.immediates = ", 1, 1, 1";
  check(product);
  const std::string name = "wgmma.mma_async.sync.aligned.";
  check({.text = name + "m64n8k8.f32.tf32.tf32",
         .k = 8,
         .a = kTf32,
         .b = kTf32,
         .sum = kF32,
         .immediates = ", 1, 1",
         .has_registers = true});
  check({.text = name + "m64n8k32.s32.s8.s8",
         .k = 32,
         .a = kInt8,
         .b = kInt8,
         .sum = kS32,
         .immediates = "",
         .has_registers = true});
}

TEST_CASE("a product may be subtracted, and may begin anew") {
  Product product = halves();
  product.immediates = ", -1, 1, 0, 0";
  product.sign = -1;
  check(product);
  product.immediates = ", 1, -1, 0, 0";
  check(product);
  product.immediates = ", -1, -1, 0, 0";
  product.sign = 1;
  check(product);
  product.adds = false;
  check(product);
  product.has_registers = true;
  product.immediates = ", -1, 1, 0";
  product.sign = -1;
  check(product);
}

TEST_CASE("who waits for a product waits for all warps of the warpgroup") {
  Device device(refilling_text(R"(
LATER:
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, 100000;
  @%p2 bra LATER;)"));
  const u64 out = device.buffer(std::vector<u32>(kThreads, 0));
  device.run_well("k", shape({1}, {kThreads}), out);
  CHECK(device.read<u32>(out, kThreads) ==
        std::vector<u32>(kThreads, static_cast<u32>(single(16))));
}

TEST_CASE("a warpgroup of which a warp has gone goes on without it") {
  Device device(refilling_text("exit;"));
  const u64 out = device.buffer(std::vector<u32>(kThreads, 0));
  device.run_well("k", shape({1}, {kThreads}), out);
  CHECK(device.read<u32>(out, 1)[0] == static_cast<u32>(single(16)));
}

TEST_CASE("a product that a warp of the warpgroup never issues is a deadlock") {
  for (const bool is_seeded : {false, true}) {
    MachineOptions options;
    options.launch_timeout_ms = 20000;
    if (is_seeded) {
      options.seed = 5;
    }
    Device device(refilling_text("bar.sync 0;"), options);
    const DeviceError error =
        device.run("k", shape({1}, {kThreads}), device.buffer(std::vector<u32>(kThreads, 0)));
    INFO(error.message);
    CHECK(error.code == DeviceErrorCode::kDeadlock);
    CHECK(error.message.find("wgmma.wait_group") != std::string::npos);
  }
}

TEST_CASE("a matrix outside of shared memory ends the kernel") {
  Product product = halves();
  const std::vector<std::uint8_t> image = image_of(product);
  Device device(text_of(product, 4, image.size()));
  const std::vector<u32> words(std::size_t{kThreads} * 4, 0);
  const DeviceError error =
      device.run("k", shape({1}, {kThreads}), device.buffer(image), device.buffer(words),
                 device.buffer(words), product.of_a.descriptor, u64{0x3000});
  CHECK(error.code != DeviceErrorCode::kNone);
  CHECK(error.message.find("wgmma") != std::string::npos);
}

TEST_CASE("sparse and one-bit products are refused by name") {
  for (const std::string_view text :
       {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%x0, %x1, %x2, %x3}, %d1, %d2, %y0, "
        "0, 1, 1, 1, 0, 0",
        "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%x0, %x1, %x2, %x3}, %d1, %d2, "
        "%p1"}) {
    Device device(
        fmt::format(".version 8.0\n.target sm_90a\n.address_size 64\n"
                    ".visible .entry k()\n{{\n.reg .pred %p<3>; .reg .b32 %x<4>, %y<4>; "
                    ".reg .b64 %d<4>;\n{};\nret;\n}}\n",
                    text));
    const DeviceError error = device.run("k", shape({1}, {kThreads}));
    CHECK(error.code != DeviceErrorCode::kNone);
    CHECK(error.message.find("wgmma") != std::string::npos);
  }
}
