// mma of sparse matrices, of single bits, of elements narrower than a byte, and with scales of
// blocks: products of small numbers, which every type holds exactly, against a plain triple loop.
// An H200 gave the values of an emulated run for sparse products of each type and for single bits;
// scales of blocks are the manual's alone.
#include <array>
#include <bit>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "emulator/execute/fp8.h"
#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::kernel_text;
using test::shape;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Element {
  u32 bits = 0;
  std::function<u32(int)> encode;
};

u32 single(int v) {
  return std::bit_cast<u32>(static_cast<float>(v));
}

// Of 0 to 3, and of their negatives.
std::function<u32(int)> listed(std::array<u32, 4> codes, u32 sign) {
  return [codes, sign](int v) {
    return codes.at(static_cast<std::size_t>(std::abs(v))) | (v < 0 ? sign : 0);
  };
}

const Element kF16{
    16, [](int v) { return u32{std::bit_cast<std::uint16_t>(static_cast<_Float16>(v))}; }};
const Element kBf16{16, [](int v) { return single(v) >> 16; }};
const Element kTf32{32, single};
const Element kE4m3{8, [](int v) { return u32{to_e4m3(static_cast<float>(v))}; }};
const Element kInt8{8, [](int v) { return static_cast<u32>(v) & 0xff; }};
const Element kInt4{4, [](int v) { return static_cast<u32>(v) & 15; }};
const Element kBit{1, [](int v) { return static_cast<u32>(v) & 1; }};
const Element kE3m2{8, listed({0, 12, 16, 18}, 32)};
const Element kE2m3{8, listed({0, 8, 16, 20}, 32)};
const Element kE2m1{8, listed({0, 2 << 2, 4 << 2, 5 << 2}, 8 << 2)};
const Element kPackedE2m1{4, listed({0, 2, 4, 5}, 8)};

// Which lanes of four have whose metadata: those that the selector names have four groups of row g
// below and of row g + 8 above, of one lane or of a pair; or a lane has eight groups of one row.
enum class Metadata { kNone, kOneLane, kPair, kPairOfRows, kAll };

struct Product {
  std::string text;
  u32 m, k;
  Element a, b, sum;
  Metadata metadata = Metadata::kNone;
  u32 selector = 0;
  std::string scales;  // what stands behind the matrices
  u32 parts = 0;       // scales of a row
  int first_byte = 0, pair = 0, lane = 0;
  bool differs = false;
};

bool has_bits(const Product& p) {
  return p.a.bits == 1;
}

int a_value(const Product& p, u32 row, u32 k) {
  const int value = static_cast<int>((row * 3 + k * 5 + k / 9) % 7) - 3;
  return has_bits(p) ? value & 1 : value;
}

int b_value(const Product& p, u32 k, u32 column) {
  const int value = static_cast<int>((column * 2 + k * 7 + k / 11) % 5) - 2;
  return has_bits(p) ? value & 1 : value;
}

int c_value(u32 row, u32 column) {
  return static_cast<int>(row * 2 + column) - 9;
}

// Stored elements of a group of metadata.
u32 stored_in_group(const Product& p) {
  return p.a.bits == 32 ? 1 : p.a.bits == 4 ? 4 : 2;
}

u32 metadata_of(const Product& p, u32 row, u32 group) {
  constexpr u32 kTwo[] = {0x4, 0x8, 0x9, 0xC, 0xD, 0xE}, kOne[] = {0x4, 0xE};
  const u32 choice = row * 5 + group * 7 + row / 3;
  return p.a.bits == 32 ? kOne[choice % 2] : kTwo[choice % 6];
}

u32 stored_depth(const Product& p) {
  return p.metadata == Metadata::kNone ? p.k : p.k / 2;
}

// Where in its row stored element `index` belongs.
u32 place_of_stored(const Product& p, u32 row, u32 index) {
  if (p.metadata == Metadata::kNone) {
    return index;
  }
  const u32 of_group = stored_in_group(p), metadata = metadata_of(p, row, index / of_group);
  const u32 first = index / of_group * of_group * 2, number = index % of_group;
  if (of_group == 1) {
    return first + (metadata == 0xE ? 1 : 0);
  }
  return of_group == 2 ? first + (metadata >> (2 * number) & 3)
                       : first + (metadata >> (number / 2 * 2) & 3) * 2 + number % 2;
}

// The exponents of a scale of two.
int a_exponent(u32 row, u32 part) {
  return static_cast<int>((row + part * 3) % 5) - 2;
}

int b_exponent(u32 column, u32 part) {
  return static_cast<int>((column * 3 + part) % 4) - 1;
}

double expected(const Product& p, u32 row, u32 column) {
  double sum = c_value(row, column);
  for (u32 index = 0; index < stored_depth(p); ++index) {
    const u32 k = place_of_stored(p, row, index), part = k * p.parts / p.k;
    const int a = a_value(p, row, index), b = b_value(p, k, column);
    const double product = p.differs ? (a != b ? 1 : 0) : a * b;
    sum += p.parts == 0 ? product
                        : std::ldexp(product, a_exponent(row, part) + b_exponent(column, part));
  }
  return sum;
}

u32 metadata_word(const Product& p, u32 lane) {
  const u32 g = lane / 4, t = lane % 4;
  u32 word = 0;
  for (u32 i = 0; i < 8; ++i) {
    const bool of_two_rows = p.metadata == Metadata::kOneLane || p.metadata == Metadata::kPair;
    const u32 row = g + 8 * (of_two_rows ? i / 4 : t % 2);
    const u32 group = p.metadata == Metadata::kOneLane ? i % 4
                      : p.metadata == Metadata::kPair  ? i % 4 + t % 2 * 4
                      : p.metadata == Metadata::kAll   ? i + t / 2 * 8
                                                       : i;
    word |= metadata_of(p, row, group) << (4 * i);
  }
  const bool counts = p.metadata == Metadata::kAll ||
                      (p.metadata == Metadata::kOneLane ? t == p.selector : t / 2 == p.selector);
  return counts ? word : ~word;
}

// Bytes of ue8m0; those that no operand names are of other scales.
u32 scale_word(u32 parts, int first_byte, bool counts, const std::function<int(u32)>& exponent) {
  u32 word = 0x11223344;
  for (u32 part = 0; counts && part < parts; ++part) {
    const u32 shift = (static_cast<u32>(first_byte) + part) * 8;
    word = (word & ~(0xFFU << shift)) | static_cast<u32>(exponent(part) + 127) << shift;
  }
  return word;
}

std::string registers(u32 first, u32 count) {
  std::string text = "{";
  for (u32 i = 0; i < count; ++i) {
    text += fmt::format("{}%r{}", i == 0 ? "" : ", ", first + i);
  }
  return text + "}";
}

struct Counts {
  u32 a = 0, b = 0, d = 0;
};

// Each lane has 32 words: 0 its a, 8 its b, 16 its c, 20 metadata, 21 and 22 scales, 24 its d.
std::string kernel(const Product& p, const Counts& counts) {
  std::string body = "    mad.wide.u32 %out, %thread, 128, %base;\n";
  const auto load = [&](u32 first, u32 count, u32 word) {
    for (u32 i = 0; i < count; ++i) {
      body += fmt::format("    ld.global.u32 %r{}, [%out+{}];\n", first + i, (word + i) * 4);
    }
  };
  load(10, counts.a, 0);
  load(18, counts.b, 8);
  load(26, counts.d, 16);
  load(32, 3, 20);
  const std::string sparse =
      p.metadata == Metadata::kNone ? "" : fmt::format(", %r32, {}", p.selector);
  body += fmt::format("    {} {}, {}, {}, {}{}{};\n", p.text, registers(26, counts.d),
                      registers(10, counts.a), registers(18, counts.b), registers(26, counts.d),
                      sparse, p.scales);
  for (u32 i = 0; i < counts.d; ++i) {
    body += fmt::format("    st.global.u32 [%out+{}], %r{};\n", 96 + i * 4, 26 + i);
  }
  return kernel_text(body);
}

// Register r of a lane holds elements that follow each other along k: of A those of row g or g + 8,
// of B those of column g; of D two neighbours of row g, then of g + 8.
std::vector<u32> words_of(const Product& p, u32 lane, const Counts& counts) {
  const u32 g = lane / 4, t = lane % 4;
  std::vector<u32> words(32, 0);
  const u32 a_parts = 32 / p.a.bits, b_parts = 32 / p.b.bits, halves = p.m / 8;
  for (u32 r = 0; r < counts.a; ++r) {
    for (u32 part = 0; part < a_parts; ++part) {
      const u32 k = t * a_parts + part + 4 * a_parts * (r / halves);
      words[r] |= p.a.encode(a_value(p, g + 8 * (r % halves), k)) << (part * p.a.bits);
    }
  }
  for (u32 r = 0; r < counts.b; ++r) {
    for (u32 part = 0; part < b_parts; ++part) {
      words[8 + r] |= p.b.encode(b_value(p, t * b_parts + part + 4 * b_parts * r, g))
                      << (part * p.b.bits);
    }
  }
  for (u32 i = 0; i < counts.d; ++i) {
    words[16 + i] = p.sum.encode(c_value(g + 8 * (i / 2), t * 2 + i % 2));
  }
  words[20] = metadata_word(p, lane);
  words[21] = scale_word(p.parts, p.first_byte, static_cast<int>(t / 2) == p.pair,
                         [&](u32 part) { return a_exponent(g + 8 * (t % 2), part); });
  words[22] = scale_word(p.parts, p.first_byte, static_cast<int>(t) == p.lane,
                         [&](u32 part) { return b_exponent(g, part); });
  return words;
}

void check(const Product& p) {
  const Counts counts{
      .a = p.m * stored_depth(p) * p.a.bits / 1024, .b = 8 * p.k * p.b.bits / 1024, .d = p.m / 4};
  std::vector<u32> memory;
  for (u32 lane = 0; lane < 32; ++lane) {
    const auto words = words_of(p, lane, counts);
    memory.insert(memory.end(), words.begin(), words.end());
  }
  Device device(kernel(p, counts));
  const u64 out = device.buffer(memory);
  INFO(p.text << " selector " << p.selector);
  device.run_well("k", shape({1}, {32}), out);
  const auto results = device.read<u32>(out, memory.size());
  for (u32 lane = 0; lane < 32; ++lane) {
    for (u32 i = 0; i < counts.d; ++i) {
      INFO("lane " << lane << " register " << i);
      const double wanted = expected(p, lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2);
      const u32 bits = p.parts != 0 ? std::bit_cast<u32>(static_cast<float>(wanted))
                                    : p.sum.encode(static_cast<int>(wanted));
      REQUIRE(results[lane * 32 + 24 + i] == bits);
    }
  }
}

const Element kF32{32, single};
const Element kS32{32, [](int v) { return static_cast<u32>(v); }};

}  // namespace

TEST_CASE("sparse products have the manual's metadata") {
  const std::string plain = "mma.sp.sync.aligned.",
                    ordered = "mma.sp::ordered_metadata.sync.aligned.";
  for (const u32 selector : {0U, 1U, 2U, 3U}) {
    check({plain + "m16n8k16.row.col.f32.f16.f16.f32", 16, 16, kF16, kF16, kF32, Metadata::kOneLane,
           selector});
    check({ordered + "m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, kTf32, kTf32, kF32,
           Metadata::kOneLane, selector});
  }
  for (const u32 selector : {0U, 1U}) {
    check({ordered + "m16n8k32.row.col.f32.bf16.bf16.f32", 16, 32, kBf16, kBf16, kF32,
           Metadata::kPair, selector});
    check({ordered + "m16n8k16.row.col.f32.tf32.tf32.f32", 16, 16, kTf32, kTf32, kF32,
           Metadata::kPair, selector});
    check({plain + "m16n8k32.row.col.s32.s8.s8.s32", 16, 32, kInt8, kInt8, kS32,
           Metadata::kPairOfRows, selector});
    check({plain + "m16n8k64.row.col.satfinite.s32.s4.s4.s32", 16, 64, kInt4, kInt4, kS32,
           Metadata::kPairOfRows, selector});
  }
  check({ordered + "m16n8k64.row.col.s32.s8.s8.s32", 16, 64, kInt8, kInt8, kS32, Metadata::kAll});
  check(
      {ordered + "m16n8k64.row.col.f32.e4m3.e4m3.f32", 16, 64, kE4m3, kE4m3, kF32, Metadata::kAll});
  check({ordered + "m16n8k128.row.col.s32.s4.s4.s32", 16, 128, kInt4, kInt4, kS32, Metadata::kAll});
}

TEST_CASE("products of single bits count those that both have, or one") {
  for (const bool differs : {false, true}) {
    const std::string end =
        differs ? ".row.col.s32.b1.b1.s32.xor.popc" : ".row.col.s32.b1.b1.s32.and.popc";
    for (const auto& [size, m, k] :
         {std::tuple("m8n8k128", 8U, 128U), std::tuple("m16n8k128", 16U, 128U),
          std::tuple("m16n8k256", 16U, 256U)}) {
      Product p{std::string("mma.sync.aligned.") + size + end, m, k, kBit, kBit, kS32};
      p.differs = differs;
      check(p);
    }
  }
  check({"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", 16, 64, kInt4, kInt4, kS32});
  check({"mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32", 8, 32, kInt4, kInt4, kS32});
}

TEST_CASE("wmma loads and multiplies elements narrower than a byte along K") {
  struct Form {
    std::string depth, type, mma;
    Element element;
    u32 k;
    bool differs = false;
  };

  for (const Form& form :
       {Form{"m8n8k32", "s4", "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32", kInt4, 32},
        Form{"m8n8k128", "b1", "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
             kBit, 128},
        Form{"m8n8k128", "b1", "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
             kBit, 128, true}}) {
    const Product p{
        form.mma, 8, form.k, form.element, form.element, kS32, Metadata::kNone, 0, "", 0,
        0,        0, 0,      form.differs};
    // Rows of A, columns of B, 16 bytes each, and 8 rows of sums.
    std::vector<u32> memory(128, 0);
    const u32 of_word = 32 / form.element.bits;
    for (u32 line = 0; line < 8; ++line) {
      for (u32 k = 0; k < form.k; ++k) {
        const u32 word = line * 4 + k / of_word, shift = k % of_word * form.element.bits;
        memory[word] |= form.element.encode(a_value(p, line, k)) << shift;
        memory[32 + word] |= form.element.encode(b_value(p, k, line)) << shift;
      }
      for (u32 column = 0; column < 8; ++column) {
        memory[64 + line * 8 + column] = static_cast<u32>(c_value(line, column));
      }
    }
    Device device(kernel_text(fmt::format(R"(
    mov.u32 %r1, {3};
    mov.u32 %r2, 8;
    add.u64 %d2, %base, 128;
    add.u64 %d3, %base, 256;
    wmma.load.a.sync.aligned.row.{0}.global.{1} {{%r3}}, [%base], %r1;
    wmma.load.b.sync.aligned.col.{0}.global.{1} {{%r4}}, [%d2], %r1;
    wmma.load.c.sync.aligned.row.{0}.global.s32 {{%r5, %r6}}, [%d3], %r2;
    {2} {{%r5, %r6}}, {{%r3}}, {{%r4}}, {{%r5, %r6}};
    wmma.store.d.sync.aligned.row.{0}.global.s32 [%d3], {{%r5, %r6}}, %r2;)",
                                          form.depth, form.type, form.mma, form.k)));
    const u64 at = device.buffer(memory);
    INFO(form.mma);
    device.run_well("k", shape({1}, {32}), at);
    const auto sums = device.read<u32>(at + 256, 64);
    for (u32 i = 0; i < 64; ++i) {
      CHECK(static_cast<int>(sums[i]) == static_cast<int>(expected(p, i / 8, i % 8)));
    }
  }
}

TEST_CASE("elements of six and four bits lie in bytes, or two in one") {
  const std::string start = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.";
  check({start + "e3m2.e2m3.f32", 16, 32, kE3m2, kE2m3, kF32});
  check({start + "e2m1.e4m3.f32", 16, 32, kE2m1, kE4m3, kF32});
  check({"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m3.e2m1.f32",
         16, 64, kE2m3, kE2m1, kF32, Metadata::kAll});
}

TEST_CASE("a row of A and a column of B have scales, one for each part") {
  const std::string start = "mma.sync.aligned.m16n8k";
  Product p{start + "32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0",
            16,
            32,
            kE4m3,
            kE2m1,
            kF32};
  p.parts = 1;
  p.first_byte = 3;
  p.pair = 1;
  p.lane = 2;
  p.scales = ", %r33, {3, 1}, %r34, {3, 2}";
  check(p);
  p = {start + "64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
       16,
       64,
       kPackedE2m1,
       kPackedE2m1,
       kF32};
  p.parts = 2;
  p.first_byte = 2;
  p.lane = 3;
  p.scales = ", {%r33}, {2, 0}, {%r34}, {2, 3}";
  check(p);
  p = {
      "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1."
      "e2m1."
      "f32.ue8m0",
      16,
      128,
      kPackedE2m1,
      kPackedE2m1,
      kF32,
      Metadata::kAll};
  p.parts = 2;
  p.scales = ", {%r33}, {0, 0}, {%r34}, {0, 0}";
  check(p);
}

TEST_CASE("scales may have a fraction") {
  // All elements are 1 and all scales 1.5, but for those of the second quarter of each row, 2.
  Device device(kernel_text(R"(
    mov.u32 %r1, 0x22222222;
    mov.u32 %r2, 0x3C3C403C;
    mov.u32 %r3, 0;
    mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {%r4, %r5, %r6, %r7}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%r3, %r3, %r3, %r3}, {%r2}, {0, 0}, {%r2}, {0, 0};
    st.global.u32 [%out], %r4;
    st.global.u32 [%out+4], %r7;)"));
  const u64 out = device.buffer(std::vector<u32>(64, 0));
  device.run_well("k", shape({1}, {32}), out);
  const std::vector<float> wanted(64, 48 * 1.5F * 1.5F + 16 * 2 * 2);
  CHECK(device.read<float>(out, 64) == wanted);
}

TEST_CASE("products that are none of the manual's are refused by name") {
  for (const std::string text :
       {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r1,%r2,%r3,%r4}, "
        "{%r5,%r6,%r7,%r8}, "
        "{%r5,%r6,%r7,%r8}, {%r1,%r2,%r3,%r4}, %r9, 2",
        "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32 {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r7}, "
        "{%r1,%r2,%r3,%r4}",
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, "
        "{%r9,%r10}, {%r11,%r12}, {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}"}) {
    Device device(kernel_text("    " + text + ";\n"));
    const DeviceError error = device.run("k", shape({1}, {32}), u64{0});
    CAPTURE(text, error.message);
    CHECK(error.code != DeviceErrorCode::kNone);
    CHECK(error.message.find("mma") != std::string::npos);
  }
}
