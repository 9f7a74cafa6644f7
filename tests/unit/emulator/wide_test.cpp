// Vector and 128-bit atomics, narrow floating-point types, warp reductions of floats, stacks and
// address windows.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "tests/unit/emulator/forms.h"

using namespace barracuda::emulator;        // NOLINT(google-build-using-namespace)
using namespace barracuda::emulator::test;  // NOLINT(google-build-using-namespace)

namespace {

std::vector<u32> run_words(const std::string& body, const std::vector<u32>& memory,
                           u32 threads = 32, const std::string& before = "") {
  Device device(kernel_text(body, before));
  const u64 out = device.buffer(memory);
  device.run_well("k", shape({1}, {threads}), out);
  return device.read<u32>(out, memory.size());
}

u32 word(float value) {
  return std::bit_cast<u32>(value);
}

u32 halves(float low, float high) {
  return std::bit_cast<u16>(static_cast<_Float16>(low)) |
         u32{std::bit_cast<u16>(static_cast<_Float16>(high))} << 16;
}

// A value of e4m3 (bias 7, three fraction bits) or e5m2 (bias 15, two) from its definition.
float fp8(u32 bits, int fraction_bits, int bias) {
  const int exponent = static_cast<int>((bits & 0x7f) >> fraction_bits);
  const int fraction = static_cast<int>(bits) & ((1 << fraction_bits) - 1);
  const double scale = std::ldexp(1.0, -fraction_bits);
  const double magnitude = exponent == 0 ? std::ldexp(fraction * scale, 1 - bias)
                                         : std::ldexp(1 + fraction * scale, exponent - bias);
  return static_cast<float>((bits & 0x80) != 0 ? -magnitude : magnitude);
}

}  // namespace

TEST_CASE("vector atomics update each element and return what was there") {
  const auto result = run_words(R"(
    atom.global.add.v2.f32 {%f1, %f2}, [%base], {0f3F800000, 0f40000000};
    atom.global.v4.f32.add {%f3, %f4, %f5, %f6}, [%base+16], {0f3F800000, 0f3F800000, 0f3F800000, 0f40000000};
    red.relaxed.gpu.global.add.v2.f32 [%base+32], {0fBF800000, 0f3F000000};
    mov.b32 %r1, 0x40003C00;
    mov.b32 %r2, 0xC0003C00;
    atom.global.v2.f16x2.add.noftz {%r3, %r4}, [%base+40], {%r1, %r2};
    cvt.rn.f32.u32 %f7, %thread;
    cvt.rn.f16.f32 %h1, %f7;
    atom.global.v2.f16.max.noftz {%h2, %h3}, [%base+48], {%h1, %h1};
    setp.ne.f32 %p1, %f1, 0f41F80000;
    @%p1 bra END;
    st.global.f32 [%base+64], %f2;
    st.global.f32 [%base+68], %f6;
END:)",
                                std::vector<u32>(20, 0));
  REQUIRE(result[0] == word(32));
  REQUIRE(result[1] == word(64));
  REQUIRE(result[4] == word(32));
  REQUIRE(result[7] == word(64));
  REQUIRE(result[8] == word(-32));
  REQUIRE(result[9] == word(16));
  REQUIRE(result[10] == halves(32, 64));
  REQUIRE(result[11] == halves(32, -64));
  REQUIRE(result[12] == halves(31, 31));
  REQUIRE(result[16] == word(62));
  REQUIRE(result[17] == word(62));
}

TEST_CASE("128-bit exchanges and comparisons are one operation") {
  constexpr std::array<std::array<std::string_view, 2>, 2> kForms = {
      {{"atom.global.exch.b128", "atom.global.cas.b128"}, {"atom.exch.b128", "atom.cas.b128"}}};
  for (const auto& [exchange, compare] : kForms) {
    const auto result = run_words(fmt::format(R"(
    .reg .b128 %q<4>;
    setp.ne.u32 %p1, %thread, 0;
    @%p1 bra END;
    mov.u64 %d1, 5;
    mov.u64 %d2, 6;
    mov.b128 %q1, {{%d1, %d2}};
    mov.b128 %q3, {{%d2, %d1}};
    {0} %q2, [%base], %q1;
    mov.b128 {{%d3, %d4}}, %q2;
    st.global.v2.u64 [%base+16], {{%d3, %d4}};
    {1} %q2, [%base], %q3, %q2;
    mov.b128 {{%d3, %d4}}, %q2;
    st.global.v2.u64 [%base+32], {{%d3, %d4}};
    {1} %q2, [%base], %q1, %q3;
END:)",
                                              exchange, compare),
                                  {1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    REQUIRE(result == std::vector<u32>{6, 0, 5, 0, 1, 0, 2, 0, 5, 0, 6, 0});
  }
}

TEST_CASE("e4m3 and e5m2 widen exactly and narrow to the nearest") {
  std::vector<u64> values;
  for (u64 i = 0; i < 256; i += 5) {
    values.push_back(i | ((i * 37 + 11) & 0xff) << 8);
  }
  const auto pair = [](u64 x, int fraction, int bias) -> u64 {
    const auto one = [&](u32 byte) -> u64 {
      const bool ieee = fraction == 2;
      const u32 magnitude = byte & 0x7f;
      if (ieee ? magnitude > 0x7c : magnitude == 0x7f) {
        return 0x7fff;
      }
      if (ieee && magnitude == 0x7c) {
        return (byte & 0x80U) << 8 | 0x7c00;
      }
      return std::bit_cast<u16>(static_cast<_Float16>(fp8(byte, fraction, bias)));
    };
    return one(static_cast<u32>(x) & 0xff) | one(static_cast<u32>(x >> 8) & 0xff) << 16;
  };
  for (std::size_t i = 0; i < values.size(); i += 6) {
    const std::vector<u64> some(
        values.begin() + static_cast<std::ptrdiff_t>(i),
        values.begin() + static_cast<std::ptrdiff_t>(std::min(i + 6, values.size())));
    check_forms({{"cvt.rn.f16x2.e4m3x2 %r, %h;", [&](u64 x, u64, u64) { return pair(x, 3, 7); }},
                 {"cvt.rn.f16x2.e5m2x2 %r, %h;", [&](u64 x, u64, u64) { return pair(x, 2, 15); }}},
                some);
  }
  const auto nearest = [](float value, int fraction, int bias, u32 largest) -> u64 {
    if (value != value) {
      return 0x7f;
    }
    u32 best = 0;
    for (u32 code = 0; code <= largest; ++code) {
      const float distance = std::fabs(std::fabs(value) - fp8(code, fraction, bias));
      const float least = std::fabs(std::fabs(value) - fp8(best, fraction, bias));
      // Of two that are equally near, the even one.
      best = distance < least || (distance == least && code % 2 == 0) ? code : best;
    }
    return std::isinf(value) ? largest | (std::signbit(value) ? 0x80U : 0U)
                             : best | (std::signbit(value) ? 0x80U : 0U);
  };
  check_forms({{"cvt.rn.satfinite.e4m3x2.f32 %s, %f, %g;",
                [&](u64 x, u64 y, u64) {
                  return nearest(f32(x), 3, 7, 0x7e) << 8 | nearest(f32(y), 3, 7, 0x7e);
                }},
               {"cvt.rn.satfinite.e5m2x2.f32 %s, %f, %g;",
                [&](u64 x, u64 y, u64) {
                  return nearest(f32(x), 2, 15, 0x7b) << 8 | nearest(f32(y), 2, 15, 0x7b);
                }}},
              {word(0.0F), word(1.0F), word(-1.0625F), word(447.0F), word(464.0F), word(-1e9F),
               word(0.001F), word(-0.0009765625F), word(0.0029296875F), word(17.0F), word(57344.0F),
               word(61440.0F), 0x7fc00000, 0x7f800000, 0xff800000});
}

TEST_CASE("conversions to tf32 and directed ones to halves round as they say") {
  const auto half_toward = [](float value, int direction) -> u64 {
    // The neighbours of the nearest half, by value.
    const auto nearest = static_cast<_Float16>(value);
    const u16 raw = std::bit_cast<u16>(nearest);
    if (static_cast<float>(nearest) == value || value != value) {
      return value != value ? 0x7fff : raw;
    }
    const bool wants_less = direction < 0 || (direction == 0 && value > 0);
    const bool is_less = static_cast<float>(nearest) < value;
    if (wants_less == is_less) {
      return raw;
    }
    const bool away = (value < 0) == wants_less;
    return static_cast<u16>(away ? raw + 1 : raw - 1);
  };
  check_forms(
      {{"cvt.rna.tf32.f32 %r, %f;",
        [](u64 x, u64, u64) -> u64 {
          const auto raw = static_cast<u32>(x);
          return f32(x) != f32(x) ? 0x7fffffff : (raw + 0x1000) & 0xffffe000U;
        }},
       {"cvt.rn.tf32.f32 %r, %f;",
        [](u64 x, u64, u64) -> u64 {
          const auto raw = static_cast<u32>(x);
          return f32(x) != f32(x) ? 0x7fffffff : (raw + 0xfff + ((raw >> 13) & 1)) & 0xffffe000U;
        }},
       {"cvt.rz.f16.f32 %s, %f;", [&](u64 x, u64, u64) { return half_toward(f32(x), 0); }},
       {"cvt.rm.f16.f32 %s, %f;", [&](u64 x, u64, u64) { return half_toward(f32(x), -1); }},
       {"cvt.rp.f16.f32 %s, %f;", [&](u64 x, u64, u64) { return half_toward(f32(x), 1); }},
       {"cvt.rz.f16x2.f32 %r, %f, %g;",
        [&](u64 x, u64 y, u64) { return half_toward(f32(x), 0) << 16 | half_toward(f32(y), 0); }}},
      {word(0.0F), word(1.0F), word(1.0009F), word(-1.0009F), word(3.14159F), word(-2049.5F),
       word(60001.0F), word(0.1F), word(-1e-5F), 0x7fc00001, 0x3f801000, 0xbf803000});
}

TEST_CASE("redux of floats takes the least or the greatest, of magnitudes, and NaN when asked") {
  const auto result = run_words(R"(
    cvt.rn.f32.u32 %f1, %thread;
    sub.f32 %f1, %f1, 0f41A00000;
    redux.sync.min.f32 %f2, %f1, -1;
    redux.sync.max.f32 %f3, %f1, -1;
    redux.sync.min.abs.f32 %f4, %f1, -1;
    setp.eq.u32 %p1, %thread, 3;
    @%p1 mov.f32 %f1, 0f7FC00000;
    redux.sync.max.abs.f32 %f5, %f1, -1;
    redux.sync.max.NaN.f32 %f6, %f1, -1;
    mul.wide.u32 %d1, %thread, 20;
    add.u64 %d1, %base, %d1;
    st.global.f32 [%d1], %f2;
    st.global.f32 [%d1+4], %f3;
    st.global.f32 [%d1+8], %f4;
    st.global.f32 [%d1+12], %f5;
    st.global.f32 [%d1+16], %f6;)",
                                std::vector<u32>(32 * 5, 0));
  for (std::size_t lane = 0; lane < 32; ++lane) {
    REQUIRE(std::vector<u32>(&result[lane * 5], &result[lane * 5] + 5) ==
            std::vector<u32>{word(-20), word(11), word(0), word(20), 0x7fffffff});
  }
}

TEST_CASE("alloca gives each thread memory of its own until the stack is restored") {
  const auto result = run_words(R"(
    .local .align 8 .b8 depot[16];
    stacksave.u64 %d1;
    mov.u64 %d2, 40;
    alloca.u64 %d3, %d2;
    alloca.u64 %d4, %d2, 32;
    st.local.u32 [depot+8], 1000;
    st.local.u32 [%d3+36], %thread;
    cvta.local.u64 %d5, %d4;
    st.u32 [%d5+4], 7;
    call (%r5), in_callee, (%thread);
    ld.u32 %r1, [%d5+4];
    ld.local.u32 %r2, [%d3+36];
    ld.local.u32 %r3, [depot+8];
    stackrestore.u64 %d1;
    alloca.u64 %d6, %d2;
    setp.eq.u64 %p1, %d3, %d6;
    and.b64 %d7, %d4, 31;
    cvt.u32.u64 %r6, %d7;
    add.u32 %r1, %r1, %r2;
    add.u32 %r1, %r1, %r3;
    add.u32 %r1, %r1, %r6;
    sub.u32 %r1, %r1, %r5;
    @!%p1 mov.u32 %r1, 0;
    mul.wide.u32 %d8, %thread, 4;
    add.u64 %d8, %base, %d8;
    st.global.u32 [%d8], %r1;)",
                                std::vector<u32>(64, 0), 64, R"(
.func (.reg .b32 %sum) in_callee(.reg .b32 %x)
{
  .local .align 8 .b8 own[64];
  st.local.u32 [own], %x;
  st.local.u32 [own+32], %x;
  st.local.u32 [own+60], %x;
  ld.local.u32 %sum, [own+32];
  ret;
}
)");
  for (std::size_t i = 0; i < 64; ++i) {
    REQUIRE(result[i] == 1007);
  }
}

TEST_CASE("addresses know their window") {
  const auto result = run_words(R"(
    .local .align 8 .b8 depot[16];
    mov.u64 %d1, depot;
    cvta.local.u64 %d1, %d1;
    mov.u64 %d2, box;
    cvta.shared.u64 %d2, %d2;
    mov.u64 %d3, table;
    cvta.const.u64 %d3, %d3;
    mov.b64 %d4, k_param_0;
    cvta.param.u64 %d4, %d4;
    mov.u32 %r9, 0;
    isspacep.local %p1, %d1;    @%p1 or.b32 %r9, %r9, 1;
    isspacep.shared %p1, %d2;   @%p1 or.b32 %r9, %r9, 2;
    isspacep.const %p1, %d3;    @%p1 or.b32 %r9, %r9, 4;
    isspacep.param %p1, %d4;    @%p1 or.b32 %r9, %r9, 8;
    isspacep.global %p1, %base; @%p1 or.b32 %r9, %r9, 16;
    isspacep.global %p1, %d3;   @%p1 or.b32 %r9, %r9, 32;
    isspacep.global %p1, %d1;   @%p1 or.b32 %r9, %r9, 64;
    isspacep.shared::cluster %p1, %d2; @%p1 or.b32 %r9, %r9, 128;
    isspacep.const %p1, %base;  @%p1 or.b32 %r9, %r9, 256;
    ld.u32 %r8, [%d3+4];
    st.global.u32 [%base], %r9;
    st.global.u32 [%base+4], %r8;)",
                                {0, 0}, 1,
                                ".const .align 4 .u32 table[2] = {3, 4};\n"
                                ".shared .align 8 .b8 box[8];\n");
  REQUIRE(result == std::vector<u32>{159, 4});
}
