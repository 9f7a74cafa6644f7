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
  // Of A half of each row is stored; the lanes whose metadata count.
  bool is_sparse = false;
  u32 selector = 0;
};

// Of a sparse A the elements of a row come in groups: two of four are stored, one of two of tf32.
u32 stored_in_group(const Product& p) {
  return p.a.bytes == 4 ? 1 : 2;
}

// Which: four bits, as the manual has them.
u32 metadata_of(const Product& p, u32 row, u32 group) {
  constexpr u32 kTwo[] = {0x4, 0x8, 0x9, 0xC, 0xD, 0xE}, kOne[] = {0x4, 0xE};
  const u32 choice = row * 5 + group * 7 + row / 3;
  return p.a.bytes == 4 ? kOne[choice % 2] : kTwo[choice % 6];
}

// Where in its row stored element `index` belongs.
u32 place_of_stored(const Product& p, u32 row, u32 index) {
  const u32 of_group = stored_in_group(p), group = index / of_group;
  const u32 metadata = metadata_of(p, row, group);
  return group * 2 * of_group +
         (of_group == 1 ? (metadata == 0xE ? 1 : 0) : metadata >> (index % 2 * 2) & 3);
}

u32 stored_depth(const Product& p) {
  return p.is_sparse ? p.k / 2 : p.k;
}

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
  for (u32 index = 0; index < stored_depth(p); ++index) {
    const u32 k = p.is_sparse ? place_of_stored(p, row, index) : index;
    sum += a_value(p, row, index) * b_value(p, k, column);
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
  std::vector<std::uint8_t> image(kTileB + std::size_t{p.n} * 128 + 2048, 0x5A);
  for (u32 k = 0; k < stored_depth(p); ++k) {
    for (u32 row = 0; row < kRows; ++row) {
      put(image, p.of_a.at(row, k * p.a.bytes), p.a, a_value(p, row, k));
    }
  }
  for (u32 k = 0; k < p.k; ++k) {
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

// The metadata that a thread has. Of a lane's four neighbours, elements of two and four bytes have
// groups 0 to 3 in the first of a pair, the others in the second, of row g below and of row g + 8
// above; the selector says which pair. Bytes have a row's groups of half the depth each.
u32 metadata_word(const Product& p, u32 thread) {
  const u32 lane = thread % 32, row = thread / 32 * 16 + lane / 4, t = lane % 4;
  u32 word = 0;
  for (u32 i = 0; i < 8; ++i) {
    const bool is_byte = p.a.bytes == 1;
    const u32 group = is_byte ? i + t / 2 * 8 : i % 4 + t % 2 * 4;
    const u32 of_row = is_byte ? row + t % 2 * 8 : row + i / 4 * 8;
    word |= metadata_of(p, of_row, group) << (4 * i);
  }
  // What no selector names is not looked at.
  return p.a.bytes == 1 || t / 2 == p.selector ? word : ~word;
}

// Parameters: the image of shared memory, the words of D, those of A's registers, both descriptors,
// the metadata.
std::string text_of(const Product& p, u32 words, std::size_t bytes) {
  std::string text = fmt::format(R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 image, .param .u64 sums, .param .u64 left, .param .u64 da, .param .u64 db, .param .u64 meta)
{{
  .shared .align 1024 .b8 tiles[{0}];
  .reg .pred %p<3>; .reg .b32 %t<9>, %meta; .reg .b32 %x<{1}>; .reg .b32 %y<4>; .reg .b64 %d<12>;
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
  ld.param.u64 %d10, [meta];
  mul.wide.u32 %d9, %t0, 4;
  add.u64 %d10, %d10, %d9;
  ld.global.b32 %meta, [%d10];
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
  text += fmt::format("  {} {}, {}, %d4, {}%p1{};\n", p.text, registers("x", words),
                      p.has_registers ? registers("y", 4) : "%d3",
                      p.is_sparse ? fmt::format("%meta, {}, ", p.selector) : "", p.immediates);
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
  std::vector<u32> metadata;
  for (u32 thread = 0; thread < kThreads; ++thread) {
    for (u32 i = 0; i < values; ++i) {
      const Place place = place_of_sum(thread, i);
      const std::size_t word = std::size_t{thread} * words + i / parts;
      const u32 shift = i % parts * 16;
      sums[word] |= static_cast<u32>(p.sum.encode(c_value(place.row, place.column))) << shift;
      wanted[word] |= static_cast<u32>(p.sum.encode(expected(p, place.row, place.column))) << shift;
    }
    metadata.push_back(metadata_word(p, thread));
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
                  p.of_a.descriptor, p.of_b.descriptor + (kTileB >> 4), device.buffer(metadata));
  CHECK(device.read<u32>(at, sums.size()) == wanted);
}

Product halves() {
  return {.text = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
          .a = kF16,
          .b = kF16,
          .sum = kF32};
}

// Of B a sparse product takes 64 bytes of each row.
Layout plain_deep() {
  return {descriptor(128, 512, 0), [](u32 row, u32 byte) {
            return row / 8 * 512 + byte / 16 * 128 + row % 8 * 16 + byte % 16;
          }};
}

Layout swizzled_32_deep() {
  return {descriptor(2048, 256, 3), [](u32 row, u32 byte) {
            return byte / 32 * 2048 + row * 32 + (byte / 16 % 2 ^ row / 4 % 2) * 16 + byte % 16;
          }};
}

Product sparse_halves() {
  Product p = halves();
  p.text = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16";
  p.k = 32;
  p.of_b = plain_deep();
  p.is_sparse = true;
  return p;
}

}  // namespace

TEST_CASE("sparse products leave out what the metadata do not name") {
  for (const u32 selector : {0U, 1U}) {
    Product p = sparse_halves();
    p.selector = selector;
    check(p);
    p.has_registers = true;
    p.immediates = ", 1, 1, 0";
    check(p);
    p = sparse_halves();
    p.text = "wgmma.mma_async.sp::ordered_metadata.sync.aligned.m64n8k16.f32.tf32.tf32";
    p.k = 16;
    p.a = p.b = kTf32;
    p.immediates = ", -1, 1";
    p.sign = -1;
    p.selector = selector;
    check(p);
  }
  for (const Layout& layout : {swizzled_32_deep(), swizzled_64(), swizzled_128()}) {
    Product p = sparse_halves();
    p.of_a = swizzled_128();
    p.of_b = layout;
    check(p);
  }
  Product p = sparse_halves();
  p.of_a = transposed(64);
  p.of_b = transposed(8);
  p.immediates = ", 1, 1, 1, 1";
  check(p);
  p = sparse_halves();
  p.text = "wgmma.mma_async.sp.sync.aligned.m64n16k64.s32.s8.s8";
  p.k = 64;
  p.n = 16;
  p.a = p.b = kInt8;
  p.sum = kS32;
  p.immediates = "";
  check(p);
  p.text = "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e5m2";
  p.n = 8;
  p.a = kE4m3;
  p.b = kE5m2;
  p.sum = kF32;
  p.immediates = ", 1, 1";
  p.adds = false;
  check(p);
}

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

TEST_CASE("a matrix outside of shared memory ends the kernel") {
  Product product = halves();
  const std::vector<std::uint8_t> image = image_of(product);
  Device device(text_of(product, 4, image.size()));
  const std::vector<u32> words(std::size_t{kThreads} * 4, 0);
  const DeviceError error =
      device.run("k", shape({1}, {kThreads}), device.buffer(image), device.buffer(words),
                 device.buffer(words), product.of_a.descriptor, u64{0x3000}, device.buffer(words));
  CHECK(error.code != DeviceErrorCode::kNone);
  CHECK(error.message.find("wgmma") != std::string::npos);
}

TEST_CASE("products of single bits count those that both have") {
  // Row r of A has a bit for each k of which r + k is a multiple of 3, column c of B of r + k one
  // of 5; rows of 256 bits, in the layout of bytes.
  const Layout layout = plain();
  std::vector<std::uint8_t> image(kTileB + 4096, 0x5A);
  const auto bit = [](u32 line, u32 k, u32 divisor) { return (line + k) % divisor == 0; };
  const auto put_bits = [&](u32 start, u32 lines, u32 divisor) {
    for (u32 line = 0; line < lines; ++line) {
      for (u32 byte = 0; byte < 32; ++byte) {
        u32 bits = 0;
        for (u32 i = 0; i < 8; ++i) {
          bits |= u32{bit(line, byte * 8 + i, divisor)} << i;
        }
        image.at(start + layout.at(line, byte)) = static_cast<std::uint8_t>(bits);
      }
    }
  };
  put_bits(0, kRows, 3);
  put_bits(kTileB, 8, 5);
  Product p;
  p.text = "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc";
  p.immediates = "";
  std::vector<u32> sums(std::size_t{kThreads} * 4, 7), none(std::size_t{kThreads} * 4, 0), wanted;
  for (u32 thread = 0; thread < kThreads; ++thread) {
    for (u32 i = 0; i < 4; ++i) {
      const Place place = place_of_sum(thread, i);
      u32 count = 7;
      for (u32 k = 0; k < 256; ++k) {
        count += u32{bit(place.row, k, 3) && bit(place.column, k, 5)};
      }
      wanted.push_back(count);
    }
  }
  Device device(text_of(p, 4, image.size()));
  const u64 at = device.buffer(sums);
  device.run_well("k", shape({1}, {kThreads}), device.buffer(image), at, device.buffer(none),
                  layout.descriptor, layout.descriptor + (kTileB >> 4), device.buffer(none));
  CHECK(device.read<u32>(at, sums.size()) == wanted);
}

TEST_CASE("products of no known form are refused by name") {
  for (const std::string_view text :
       {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%x0, %x1, %x2, %x3}, %d1, %d2, %y0, "
        "2, 1, 1, 1, 0, 0",
        "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc {%x0, %x1, %x2, %x3}, %d1, %d2, "
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
