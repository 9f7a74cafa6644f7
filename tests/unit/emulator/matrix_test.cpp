// Matrix products against products of small integers, which every type holds exactly.
#include <algorithm>
#include <bit>
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

struct Place {
  u32 row = 0, column = 0;
};

// Element i of a lane's fragment, as the PTX manual gives it: g is lane / 4, t lane % 4.
using Layout = std::function<Place(u32 g, u32 t, u32 i)>;
using Encode = std::function<u64(int)>;

struct Element {
  u32 bits = 0;
  Encode encode;
};

u64 half(int v) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(v));
}

u64 single(int v) {
  return std::bit_cast<u32>(static_cast<float>(v));
}

const Element kF16{16, half};
const Element kBf16{16, [](int v) { return single(v) >> 16; }};
const Element kTf32{32, single};
const Element kF32{32, single};
const Element kF64{64, [](int v) { return std::bit_cast<u64>(static_cast<double>(v)); }};
const Element kInt8{8, [](int v) { return static_cast<u64>(v) & 0xff; }};
const Element kInt4{4, [](int v) { return static_cast<u64>(v) & 15; }};
const Element kS32{32, [](int v) { return static_cast<u64>(v) & 0xffffffff; }};
const Element kE4m3{8, [](int v) { return u64{to_e4m3(static_cast<float>(v))}; }};

struct Product {
  std::string text;
  u32 m, n, k;
  Element input, sum;
  Layout a, b, d;
  bool is_unsigned = false;
};

int a_value(const Product& p, u32 row, u32 column) {
  const int value = static_cast<int>((row * 3 + column * 5) % 7) - 3;
  return p.is_unsigned ? value + 3 : value;
}

int b_value(const Product& p, u32 row, u32 column) {
  const int value = static_cast<int>((row * 2 + column * 7) % 5) - 2;
  return p.is_unsigned ? value + 2 : value;
}

int c_value(u32 row, u32 column) {
  return static_cast<int>(row * 2 + column) - 9;
}

int expected(const Product& p, u32 row, u32 column) {
  int sum = c_value(row, column);
  for (u32 i = 0; i < p.k; ++i) {
    sum += a_value(p, row, i) * b_value(p, i, column);
  }
  return sum;
}

// The words of one lane's fragment.
std::vector<u64> fragment(const Element& element, u32 count, u32 lane, const Layout& layout,
                          const std::function<int(Place)>& value) {
  const u32 width = element.bits == 64 ? 64 : 32, parts = width / element.bits;
  std::vector<u64> words(count / parts, 0);
  for (u32 i = 0; i < count; ++i) {
    words[i / parts] |= element.encode(value(layout(lane / 4, lane % 4, i)))
                        << (i % parts * element.bits);
  }
  return words;
}

std::string registers(const char* kind, u32 first, std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("{}{}{}", i == 0 ? "" : ", ", kind, first + i);
  }
  return text + "}";
}

// Each lane has 32 words of 64 bits: 0 its a, 8 its b, 16 its c, 24 its d.
std::string mma_kernel(const Product& p, const std::size_t counts[3]) {
  const bool wide = p.input.bits == 64;
  const char* kind = wide ? "%d" : "%r";
  std::string body = "    mad.wide.u32 %out, %thread, 256, %base;\n";
  const u32 firsts[] = {10, 18, 26};
  for (std::size_t operand = 0; operand < 3; ++operand) {
    for (std::size_t i = 0; i < counts[operand]; ++i) {
      body += fmt::format("    ld.global.{} {}{}, [%out+{}];\n", wide ? "u64" : "u32", kind,
                          firsts[operand] + i, operand * 64 + i * 8);
    }
  }
  body += fmt::format("    {} {}, {}, {}, {};\n", p.text, registers(kind, 26, counts[2]),
                      registers(kind, 10, counts[0]), registers(kind, 18, counts[1]),
                      registers(kind, 26, counts[2]));
  for (std::size_t i = 0; i < counts[2]; ++i) {
    body += fmt::format("    st.global.{} [%out+{}], {}{};\n", wide ? "u64" : "u32", 192 + i * 8,
                        kind, 26 + i);
  }
  return kernel_text(body);
}

void check_product(const Product& p) {
  const u32 a_count = p.m * p.k / 32, b_count = p.n * p.k / 32, d_count = p.m * p.n / 32;
  std::vector<u64> memory(32 * 32, 0), wanted;
  std::size_t counts[3] = {};
  for (u32 lane = 0; lane < 32; ++lane) {
    const std::vector<u64> operands[] = {
        fragment(p.input, a_count, lane, p.a,
                 [&](Place at) { return a_value(p, at.row, at.column); }),
        fragment(p.input, b_count, lane, p.b,
                 [&](Place at) { return b_value(p, at.row, at.column); }),
        fragment(p.sum, d_count, lane, p.d, [](Place at) { return c_value(at.row, at.column); })};
    for (std::size_t i = 0; i < 3; ++i) {
      counts[i] = operands[i].size();
      std::ranges::copy(operands[i],
                        memory.begin() + static_cast<std::ptrdiff_t>(lane * 32 + i * 8));
    }
    const auto result = fragment(p.sum, d_count, lane, p.d,
                                 [&](Place at) { return expected(p, at.row, at.column); });
    wanted.insert(wanted.end(), result.begin(), result.end());
  }
  Device device(mma_kernel(p, counts));
  const u64 out = device.buffer(memory);
  device.run_well("k", shape({1}, {32}), out);
  const auto results = device.read<u64>(out, 32 * 32);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    INFO(p.text << " lane " << i / counts[2] << " register " << i % counts[2]);
    REQUIRE(results[i / counts[2] * 32 + 24 + i % counts[2]] == wanted[i]);
  }
}

// c and d of m16n8: rows g and g + 8, two neighbours.
Place sum16(u32 g, u32 t, u32 i) {
  return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
}

Place sum8(u32 g, u32 t, u32 i) {
  return {g, t * 2 + i};
}

}  // namespace

TEST_CASE("matrix products of halves and of tf32 have the manual's layout") {
  const Layout a16 = [](u32 g, u32 t, u32 i) {
    return Place{i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  };
  const Layout b16 = [](u32 g, u32 t, u32 i) {
    return Place{t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g};
  };
  const Layout a8 = [](u32 g, u32 t, u32 i) { return Place{i < 2 ? g : g + 8, t * 2 + (i & 1)}; };
  const Layout b8 = [](u32 g, u32 t, u32 i) { return Place{t * 2 + i, g}; };
  const Layout a8t = [](u32 g, u32 t, u32 i) {
    return Place{i % 2 == 0 ? g : g + 8, i < 2 ? t : t + 4};
  };
  const Layout b8t = [](u32 g, u32 t, u32 i) { return Place{i == 0 ? t : t + 4, g}; };
  const Layout a4t = [](u32 g, u32 t, u32 i) { return Place{i == 0 ? g : g + 8, t}; };
  const Layout b4t = [](u32 g, u32 t, u32) { return Place{t, g}; };
  const std::string start = "mma.sync.aligned.";
  check_product({"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, kF16, kF32, a16,
                 b16, sum16});
  check_product(
      {start + "m16n8k16.row.col.f16.f16.f16.f16", 16, 8, 16, kF16, kF16, a16, b16, sum16});
  check_product(
      {start + "m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, kBf16, kF32, a16, b16, sum16});
  check_product({start + "m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 8, kF16, kF32, a8, b8, sum16});
  check_product(
      {start + "m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 8, kBf16, kF32, a8, b8, sum16});
  check_product(
      {start + "m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, kTf32, kF32, a8t, b8t, sum16});
  check_product(
      {start + "m16n8k4.row.col.f32.tf32.tf32.f32", 16, 8, 4, kTf32, kF32, a4t, b4t, sum16});
}

TEST_CASE("matrix products of doubles, bytes, nibbles and e4m3 have the manual's layout") {
  const Layout a64 = [](u32 g, u32 t, u32) { return Place{g, t}; };
  const Layout b64 = [](u32 g, u32 t, u32) { return Place{t, g}; };
  const Layout a64_8 = [](u32 g, u32 t, u32 i) {
    return Place{i % 2 == 0 ? g : g + 8, i < 2 ? t : t + 4};
  };
  const Layout b64_8 = [](u32 g, u32 t, u32 i) { return Place{t + 4 * i, g}; };
  const Layout a32 = [](u32 g, u32 t, u32 i) {
    return Place{i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
  };
  const Layout b32 = [](u32 g, u32 t, u32 i) {
    return Place{t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g};
  };
  const Layout a16 = [](u32 g, u32 t, u32 i) { return Place{i < 4 ? g : g + 8, t * 4 + (i & 3)}; };
  const Layout b16 = [](u32 g, u32 t, u32 i) { return Place{t * 4 + i, g}; };
  const Layout a8 = [](u32 g, u32 t, u32 i) { return Place{g, t * 4 + i}; };
  const Layout a4 = [](u32 g, u32 t, u32 i) { return Place{i < 8 ? g : g + 8, t * 8 + (i & 7)}; };
  const Layout b4 = [](u32 g, u32 t, u32 i) { return Place{t * 8 + i, g}; };
  const std::string start = "mma.sync.aligned.";
  check_product({start + "m8n8k4.row.col.f64.f64.f64.f64", 8, 8, 4, kF64, kF64, a64, b64, sum8});
  check_product(
      {start + "m16n8k8.row.col.f64.f64.f64.f64", 16, 8, 8, kF64, kF64, a64_8, b64_8, sum16});
  check_product(
      {start + "m16n8k32.row.col.s32.s8.s8.s32", 16, 8, 32, kInt8, kS32, a32, b32, sum16});
  check_product({start + "m16n8k32.row.col.satfinite.s32.u8.u8.s32", 16, 8, 32, kInt8, kS32, a32,
                 b32, sum16, true});
  check_product(
      {start + "m16n8k16.row.col.s32.s8.s8.s32", 16, 8, 16, kInt8, kS32, a16, b16, sum16});
  check_product({start + "m8n8k16.row.col.s32.s8.s8.s32", 8, 8, 16, kInt8, kS32, a8, b16, sum8});
  check_product({start + "m16n8k32.row.col.s32.s4.s4.s32", 16, 8, 32, kInt4, kS32, a4, b4, sum16});
  check_product(
      {start + "m16n8k32.row.col.f32.e4m3.e4m3.f32", 16, 8, 32, kE4m3, kF32, a32, b32, sum16});
}

namespace {

struct WmmaCase {
  std::string shape, d, ab, c;  // types as they stand in the instructions
  u32 m, n, k;
  Element input, sum;
  u32 a_registers, b_registers, d_registers;
  bool by_columns = false;
};

std::vector<std::byte> packed(const Element& element, u32 rows, u32 columns, u32 stride,
                              bool by_columns, const std::function<int(u32, u32)>& value) {
  const u32 size = element.bits / 8;
  std::vector<std::byte> memory(std::size_t{stride} * (by_columns ? columns : rows) * size);
  for (u32 row = 0; row < rows; ++row) {
    for (u32 column = 0; column < columns; ++column) {
      const u64 bits = element.encode(value(row, column));
      const std::size_t at = by_columns ? column * stride + row : row * stride + column;
      std::memcpy(memory.data() + at * size, &bits, size);
    }
  }
  return memory;
}

// The instructions in full; the layouts are those that they name, the space that of the loads.
struct WmmaForms {
  std::string load_a, load_b, load_c, mma, store_d;
};

constexpr std::size_t kMatrixBytes = 4096;

// Copies three matrices between global memory (%d1, %d2, %d3) and shared memory.
constexpr std::string_view kCopyIn = R"(
  mov.u64 %d8, tile;
  mov.u32 %r2, %tid.x; mul.wide.u32 %d4, %r2, 8;
IN:
  add.u64 %d9, %d8, %d4;
  add.u64 %d5, %d1, %d4; ld.global.u64 %d6, [%d5]; st.shared.u64 [%d9], %d6;
  add.u64 %d5, %d2, %d4; ld.global.u64 %d6, [%d5]; st.shared.u64 [%d9+4096], %d6;
  add.u64 %d5, %d3, %d4; ld.global.u64 %d6, [%d5]; st.shared.u64 [%d9+8192], %d6;
  add.u64 %d4, %d4, 256; setp.lt.u64 %p1, %d4, 4096;
  @%p1 bra IN;
  bar.sync 0;
  mov.u64 %d7, %d3; mov.u64 %d1, %d8; add.u64 %d2, %d8, 4096; add.u64 %d3, %d8, 8192;
)";
constexpr std::string_view kCopyOut = R"(
  bar.sync 0;
  mul.wide.u32 %d4, %r2, 8;
OUT:
  add.u64 %d9, %d8, %d4;
  add.u64 %d5, %d7, %d4; ld.shared.u64 %d6, [%d9+8192]; st.global.u64 [%d5], %d6;
  add.u64 %d4, %d4, 256; setp.lt.u64 %p1, %d4, 4096;
  @%p1 bra OUT;
)";

std::string wmma_kernel(const WmmaCase& w, const WmmaForms& forms, u32 stride) {
  const char* input = w.input.bits == 64 ? "%e" : "%r";
  const bool in_shared = forms.load_a.find(".shared") != std::string::npos;
  return fmt::format(
      R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc)
{{
  .shared .align 128 .b8 tile[12288];
  .reg .pred %p1; .reg .b32 %r<40>; .reg .b64 %d<10>; .reg .f64 %e<40>;
  ld.param.u64 %d1, [pa];
  ld.param.u64 %d2, [pb];
  ld.param.u64 %d3, [pc];
  mov.u32 %r1, {0};{1}
  {2} {3}, [%d1], %r1;
  {4} {5}, [%d2], %r1;
  {6} {7}, [%d3], %r1;
  {8} {7}, {3}, {5}, {7};
  {9} [%d3], {7}, %r1;{10}
  ret;
}}
)",
      stride, in_shared ? kCopyIn : "", forms.load_a, registers(input, 10, w.a_registers),
      forms.load_b, registers(input, 18, w.b_registers), forms.load_c,
      registers(input, 26, w.d_registers), forms.mma, forms.store_d, in_shared ? kCopyOut : "");
}

void check_wmma(const WmmaCase& w, const WmmaForms& forms) {
  Product p;
  p.k = w.k;
  p.is_unsigned = w.ab == "u8";
  const u32 stride = 40;
  const auto by_columns = [](const std::string& form) {
    return form.find(".col.") != std::string::npos;
  };
  const std::string text = wmma_kernel(w, forms, stride);
  Device device(text);
  auto pa = packed(w.input, w.m, w.k, stride, by_columns(forms.load_a),
                   [&](u32 row, u32 column) { return a_value(p, row, column); });
  auto pb = packed(w.input, w.k, w.n, stride, by_columns(forms.load_b),
                   [&](u32 row, u32 column) { return b_value(p, row, column); });
  auto pc = packed(w.sum, w.m, w.n, stride, by_columns(forms.load_c), c_value);
  for (auto* matrix : {&pa, &pb, &pc}) {
    matrix->resize(std::max(matrix->size(), kMatrixBytes));
  }
  const u64 c = device.buffer(pc);
  INFO(text);
  device.run_well("k", shape({1}, {32}), device.buffer(pa), device.buffer(pb), c);
  const auto wanted = packed(w.sum, w.m, w.n, stride, by_columns(forms.store_d),
                             [&](u32 row, u32 column) { return expected(p, row, column); });
  REQUIRE(device.read<std::byte>(c, wanted.size()) == wanted);
}

void check_wmma(const WmmaCase& w) {
  const std::string layout = w.by_columns ? "col" : "row", other = w.by_columns ? "row" : "col";
  const std::string types =
      w.ab == "f16" ? w.d + "." + w.c : w.d + "." + w.ab + "." + w.ab + "." + w.c;
  check_wmma(w, {fmt::format("wmma.load.a.sync.aligned.{}.{}.global.{}", layout, w.shape, w.ab),
                 fmt::format("wmma.load.b.sync.aligned.{}.{}.global.{}", other, w.shape, w.ab),
                 fmt::format("wmma.load.c.sync.aligned.{}.{}.global.{}", layout, w.shape, w.c),
                 fmt::format("wmma.mma.sync.aligned.{}.{}.{}.{}{}", layout, other, w.shape, types,
                             w.ab == "f64" ? ".rn" : ""),
                 fmt::format("wmma.store.d.sync.aligned.{}.{}.global.{}", layout, w.shape, w.d)});
}

}  // namespace

// As compilers write them, spelled out: coverage_test.cpp looks for the forms here.
TEST_CASE("wmma forms work in shared, global and generic memory, in rows and columns") {
  const WmmaCase halves{"", "", "f16", "", 16, 16, 16, kF16, kF32, 8, 8, 8};
  const WmmaCase bytes{"", "", "u8", "", 16, 16, 16, kInt8, kS32, 2, 2, 8};
  check_wmma(halves, {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16",
                      "wmma.load.b.sync.aligned.col.m16n16k16.shared.f16",
                      "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32",
                      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
                      "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32"});
  check_wmma(halves, {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16",
                      "wmma.load.b.sync.aligned.col.m16n16k16.global.f16",
                      "wmma.load.c.sync.aligned.row.m16n16k16.global.f32",
                      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
                      "wmma.store.d.sync.aligned.row.m16n16k16.global.f32"});
  check_wmma(halves, {"wmma.load.a.sync.aligned.row.m16n16k16.f16",
                      "wmma.load.b.sync.aligned.col.m16n16k16.f16",
                      "wmma.load.c.sync.aligned.row.m16n16k16.f32",
                      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
                      "wmma.store.d.sync.aligned.row.m16n16k16.f32"});
  check_wmma(halves, {"wmma.load.a.sync.aligned.row.m16n16k16.f16",
                      "wmma.load.b.sync.aligned.col.m16n16k16.f16",
                      "wmma.load.c.sync.aligned.col.m16n16k16.f32",
                      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
                      "wmma.store.d.sync.aligned.col.m16n16k16.f32"});
  check_wmma(bytes, {"wmma.load.a.sync.aligned.row.m16n16k16.shared.u8",
                     "wmma.load.b.sync.aligned.col.m16n16k16.shared.u8",
                     "wmma.load.c.sync.aligned.row.m16n16k16.shared.s32",
                     "wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32",
                     "wmma.store.d.sync.aligned.row.m16n16k16.shared.s32"});
  check_wmma(bytes, {"wmma.load.a.sync.aligned.row.m16n16k16.global.u8",
                     "wmma.load.b.sync.aligned.col.m16n16k16.global.u8",
                     "wmma.load.c.sync.aligned.row.m16n16k16.global.s32",
                     "wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32",
                     "wmma.store.d.sync.aligned.row.m16n16k16.global.s32"});
  check_wmma(
      {"", "", "bf16", "", 16, 16, 16, kBf16, kF32, 4, 4, 8},
      {"wmma.load.a.sync.aligned.row.m16n16k16.bf16", "wmma.load.b.sync.aligned.col.m16n16k16.bf16",
       "wmma.load.c.sync.aligned.row.m16n16k16.f32",
       "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32",
       "wmma.store.d.sync.aligned.row.m16n16k16.f32"});
  check_wmma(
      {"", "", "tf32", "", 16, 16, 8, kTf32, kF32, 4, 4, 8},
      {"wmma.load.a.sync.aligned.row.m16n16k8.tf32", "wmma.load.b.sync.aligned.col.m16n16k8.tf32",
       "wmma.load.c.sync.aligned.row.m16n16k8.f32",
       "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32",
       "wmma.store.d.sync.aligned.row.m16n16k8.f32"});
  check_wmma({"", "", "f64", "", 8, 8, 4, kF64, kF64, 1, 1, 2},
             {"wmma.load.a.sync.aligned.row.m8n8k4.f64", "wmma.load.b.sync.aligned.col.m8n8k4.f64",
              "wmma.load.c.sync.aligned.row.m8n8k4.f64",
              "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn",
              "wmma.store.d.sync.aligned.row.m8n8k4.f64"});
}

TEST_CASE("wmma loads, multiplies and stores matrices of every type and shape") {
  for (const bool by_columns : {false, true}) {
    check_wmma({"m16n16k16", "f32", "f16", "f32", 16, 16, 16, kF16, kF32, 8, 8, 8, by_columns});
    check_wmma({"m16n16k16", "f16", "f16", "f16", 16, 16, 16, kF16, kF16, 8, 8, 4, by_columns});
    check_wmma({"m32n8k16", "f32", "f16", "f32", 32, 8, 16, kF16, kF32, 8, 8, 8, by_columns});
    check_wmma({"m8n32k16", "f32", "f16", "f32", 8, 32, 16, kF16, kF32, 8, 8, 8, by_columns});
    check_wmma({"m16n16k16", "f32", "bf16", "f32", 16, 16, 16, kBf16, kF32, 4, 4, 8, by_columns});
    check_wmma({"m16n16k8", "f32", "tf32", "f32", 16, 16, 8, kTf32, kF32, 4, 4, 8, by_columns});
    check_wmma({"m8n8k4", "f64", "f64", "f64", 8, 8, 4, kF64, kF64, 1, 1, 2, by_columns});
    check_wmma({"m16n16k16", "s32", "u8", "s32", 16, 16, 16, kInt8, kS32, 2, 2, 8, by_columns});
    check_wmma({"m8n32k16", "s32", "s8", "s32", 8, 32, 16, kInt8, kS32, 1, 4, 8, by_columns});
  }
}

TEST_CASE("a matrix access outside its allocation ends the kernel") {
  Device device(
      kernel_text("  mov.u32 %r1, 16;\n wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
                  "{%r2,%r3,%r4,%r5,%r6,%r7,%r8,%r9}, [%base], %r1;"));
  const u64 enough = device.buffer(std::vector<std::uint16_t>(256, 0));
  device.run_well("k", shape({1}, {32}), enough);
  const u64 small = device.buffer(std::vector<std::uint16_t>(255, 0));
  REQUIRE(device.run("k", shape({1}, {32}), small).code == DeviceErrorCode::kIllegalAddress);
}
