// Floating-point forms: exact ones bit for bit, approximations within the bounds of the PTX manual.
#include <algorithm>
#include <cfenv>
#include <limits>

#include "tests/unit/emulator/forms.h"

using namespace barracuda::emulator::test;  // NOLINT(google-build-using-namespace)

namespace {

u64 b32(float value) {
  return std::bit_cast<u32>(value);
}

const std::vector<u64> kSingles = {
    b32(0.0F),   b32(-0.0F),     b32(1.0F),  b32(-1.5F),   b32(0.1F),   b32(3.0F),
    b32(2.5F),   b32(-3.5F),     b32(1e30F), b32(-1e-30F), b32(1.5e9F), b32(-2147483648.0F),
    b32(1e-42F), b32(0.333333F), 0x7f800000, 0xff800000,   0x7fc00001,  0x3f800001};
const std::vector<u64> kDoubles = {bits(0.0),         bits(-0.0),
                                   bits(1.0),         bits(-1.5),
                                   bits(0.1),         bits(3.0),
                                   bits(1e300),       bits(-1e-300),
                                   bits(2.5),         bits(-1e10),
                                   bits(4.2e9),       bits(1.0 / 3),
                                   bits(9.3e18),      bits(std::numeric_limits<double>::infinity()),
                                   0xfff8000000000000};

template <class Compute>
auto rounded(int mode, Compute compute) -> decltype(compute()) {
  std::fesetround(mode);
  const volatile auto result = compute();
  std::fesetround(FE_TONEAREST);
  return result;
}

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

float unit(float value) {
  return value > 0 ? std::min(value, 1.0F) : 0.0F;
}

template <class D, class S>
u64 to_integer(S value) {
  if (value != value) {
    return 0;
  }
  const auto low = static_cast<S>(std::numeric_limits<D>::min());
  const auto high = static_cast<S>(std::numeric_limits<D>::max());
  const D result = value <= low    ? std::numeric_limits<D>::min()
                   : value >= high ? std::numeric_limits<D>::max()
                                   : static_cast<D>(value);
  return sizeof(D) == 8 ? static_cast<u64>(result) : static_cast<u32>(result);
}

// A NaN's bits are not compared for f64.
u64 d(double value) {
  return value != value ? 1 : bits(value);
}

}  // namespace

TEST_CASE("f32 arithmetic is IEEE's, with flushing, saturation and all roundings") {
  check_forms(
      {{"add.f32 %q, %f, %g;", [](u64 x, u64 y, u64) { return bits(f32(x) + f32(y)); }},
       {"sub.rn.f32 %q, %f, %g;", [](u64 x, u64 y, u64) { return bits(f32(x) - f32(y)); }},
       {"mul.f32 %q, %f, %g;", [](u64 x, u64 y, u64) { return bits(f32(x) * f32(y)); }},
       {"fma.rn.f32 %q, %f, %g, %k;",
        [](u64 x, u64 y, u64 z) { return bits(std::fma(f32(x), f32(y), f32(z))); }},
       {"div.rn.f32 %q, %f, %g;", [](u64 x, u64 y, u64) { return bits(f32(x) / f32(y)); }},
       {"sqrt.rn.f32 %q, %f;", [](u64 x, u64, u64) { return bits(std::sqrt(f32(x))); }},
       {"rcp.rn.f32 %q, %f;", [](u64 x, u64, u64) { return bits(1.0F / f32(x)); }},
       {"add.ftz.f32 %q, %f, %g;",
        [](u64 x, u64 y, u64) { return bits(flushed(flushed(f32(x)) + flushed(f32(y)))); }},
       {"mul.ftz.f32 %q, %f, %g;",
        [](u64 x, u64 y, u64) { return bits(flushed(flushed(f32(x)) * flushed(f32(y)))); }},
       {"add.sat.f32 %q, %f, %g;", [](u64 x, u64 y, u64) { return bits(unit(f32(x) + f32(y))); }},
       {"fma.rn.sat.f32 %q, %f, %g, %k;",
        [](u64 x, u64 y, u64 z) { return bits(unit(std::fma(f32(x), f32(y), f32(z)))); }},
       {"add.rz.f32 %q, %f, %g;",
        [](u64 x, u64 y, u64) {
          return bits(rounded(FE_TOWARDZERO, [&] { return f32(x) + f32(y); }));
        }},
       {"mul.rm.f32 %q, %f, %g;",
        [](u64 x, u64 y, u64) {
          return bits(rounded(FE_DOWNWARD, [&] { return f32(x) * f32(y); }));
        }},
       {"fma.rp.f32 %q, %f, %g, %k;",
        [](u64 x, u64 y, u64 z) {
          return bits(rounded(FE_UPWARD, [&] { return std::fma(f32(x), f32(y), f32(z)); }));
        }},
       {"div.rm.f32 %q, %f, %g;",
        [](u64 x, u64 y, u64) {
          return bits(rounded(FE_DOWNWARD, [&] { return f32(x) / f32(y); }));
        }},
       {"neg.f32 %q, %f;", [](u64 x, u64, u64) { return x ^ 0x80000000U; }},
       {"abs.f32 %q, %f;", [](u64 x, u64, u64) { return x & 0x7fffffffU; }},
       {"copysign.f32 %q, %f, %g;",
        [](u64 x, u64 y, u64) { return (x & 0x80000000U) | (y & 0x7fffffffU); }},
       {"min.f32 %q, %f, %g;",
        [](u64 x, u64 y, u64) {
          const float a = f32(x), b = f32(y);
          return a != a ? bits(b) : b != b ? bits(a) : a == b ? (x | y) : bits(std::min(a, b));
        }},
       {"max.f32 %q, %f, %g;",
        [](u64 x, u64 y, u64) {
          const float a = f32(x), b = f32(y);
          return a != a ? bits(b) : b != b ? bits(a) : a == b ? (x & y) : bits(std::max(a, b));
        }},
       {"max.NaN.f32 %q, %f, %g;",
        [](u64 x, u64 y, u64) {
          const float a = f32(x), b = f32(y);
          return a != a || b != b ? 0x7fffffffU : a == b ? (x & y) : bits(std::max(a, b));
        }}},
      kSingles);
}

TEST_CASE("f64 arithmetic is IEEE's in all roundings") {
  const auto same = [](const char* text, auto compute) {
    // NaNs become 1.0's neighbour in bits: compare them as such on both sides.
    return FormCase{std::string(text) +
                        " testp.notanumber.f64 %p2, %t; selp.f64 %t, 0d0000000000000001, %t, %p2;",
                    [compute](u64 x, u64 y, u64 z) { return d(compute(f64(x), f64(y), f64(z))); }};
  };
  check_forms(
      {same("add.f64 %t, %u, %v;", [](double a, double b, double) { return a + b; }),
       same("mul.rn.f64 %t, %u, %v;", [](double a, double b, double) { return a * b; }),
       same("div.rn.f64 %t, %u, %v;", [](double a, double b, double) { return a / b; }),
       same("fma.rn.f64 %t, %u, %v, %w;",
            [](double a, double b, double c) { return std::fma(a, b, c); }),
       same("sqrt.rn.f64 %t, %u;", [](double a, double, double) { return std::sqrt(a); }),
       same("add.rm.f64 %t, %u, %v;",
            [](double a, double b, double) { return rounded(FE_DOWNWARD, [&] { return a + b; }); }),
       same("mul.rp.f64 %t, %u, %v;",
            [](double a, double b, double) { return rounded(FE_UPWARD, [&] { return a * b; }); }),
       same("div.rz.f64 %t, %u, %v;",
            [](double a, double b, double) {
              return rounded(FE_TOWARDZERO, [&] { return a / b; });
            }),
       same("min.f64 %t, %u, %v;",
            [](double a, double b, double) {
              return a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
            })},
      kDoubles);
}

TEST_CASE("floating-point comparisons know ordered and unordered") {
  check_forms(
      {{"setp.lt.f32 %p, %f, %g;", [](u64 x, u64 y, u64) { return u64{f32(x) < f32(y)}; }},
       {"setp.ne.f32 %p, %f, %g;",
        [](u64 x, u64 y, u64) { return u64{f32(x) < f32(y) || f32(x) > f32(y)}; }},
       {"setp.neu.f32 %p, %f, %g;", [](u64 x, u64 y, u64) { return u64{f32(x) != f32(y)}; }},
       {"setp.equ.f32 %p, %f, %g;",
        [](u64 x, u64 y, u64) { return u64{!(f32(x) < f32(y) || f32(x) > f32(y))}; }},
       {"setp.leu.f32 %p, %f, %g;", [](u64 x, u64 y, u64) { return u64{!(f32(x) > f32(y))}; }},
       {"setp.gtu.f32 %p, %f, %g;", [](u64 x, u64 y, u64) { return u64{!(f32(x) <= f32(y))}; }},
       {"setp.num.f32 %p, %f, %g;",
        [](u64 x, u64 y, u64) { return u64{!std::isunordered(f32(x), f32(y))}; }},
       {"setp.nan.f32 %p, %f, %g;",
        [](u64 x, u64 y, u64) { return u64{std::isunordered(f32(x), f32(y))}; }},
       {"setp.lt.ftz.f32 %p, %f, %g;",
        [](u64 x, u64 y, u64) { return u64{flushed(f32(x)) < flushed(f32(y))}; }},
       {"set.gt.f32.f32 %q, %f, %g;",
        [](u64 x, u64 y, u64) { return f32(x) > f32(y) ? b32(1.0F) : 0; }},
       {"testp.normal.f32 %p, %f;", [](u64 x, u64, u64) { return u64{std::isnormal(f32(x))}; }},
       {"testp.subnormal.f32 %p, %f;",
        [](u64 x, u64, u64) { return u64{std::fpclassify(f32(x)) == FP_SUBNORMAL}; }},
       {"testp.infinite.f32 %p, %f;", [](u64 x, u64, u64) { return u64{std::isinf(f32(x))}; }},
       {"slct.f32.f32 %q, %f, %g, %k;", [](u64 x, u64 y, u64 z) { return f32(z) >= 0 ? x : y; }}},
      kSingles);
}

TEST_CASE("conversions between floats and integers round and clamp") {
  check_forms(
      {{"cvt.rzi.s32.f32 %r, %f;",
        [](u64 x, u64, u64) { return to_integer<s32>(static_cast<double>(std::trunc(f32(x)))); }},
       {"cvt.rni.s32.f32 %r, %f;",
        [](u64 x, u64, u64) { return to_integer<s32>(static_cast<double>(std::rint(f32(x)))); }},
       {"cvt.rmi.s32.f32 %r, %f;",
        [](u64 x, u64, u64) { return to_integer<s32>(static_cast<double>(std::floor(f32(x)))); }},
       {"cvt.rpi.u32.f32 %r, %f;",
        [](u64 x, u64, u64) { return to_integer<u32>(static_cast<double>(std::ceil(f32(x)))); }},
       {"cvt.rzi.s64.f32 %R, %f;",
        [](u64 x, u64, u64) { return to_integer<s64>(std::trunc(f32(x))); }},
       {"cvt.rzi.u64.f32 %R, %f;",
        [](u64 x, u64, u64) { return to_integer<u64>(std::trunc(f32(x))); }},
       {"cvt.rzi.s16.f32 %r, %f;",
        [](u64 x, u64, u64) { return to_integer<s16>(static_cast<double>(std::trunc(f32(x)))); }},
       {"cvt.rni.f32.f32 %q, %f;", [](u64 x, u64, u64) { return bits(std::rint(f32(x))); }},
       {"cvt.rmi.f32.f32 %q, %f;", [](u64 x, u64, u64) { return bits(std::floor(f32(x))); }},
       {"cvt.sat.f32.f32 %q, %f;", [](u64 x, u64, u64) { return bits(unit(f32(x))); }},
       {"cvt.ftz.f32.f32 %q, %f;", [](u64 x, u64, u64) { return bits(flushed(f32(x))); }},
       {"cvt.f64.f32 %t, %f; cvt.rn.f32.f64 %q, %t;", [](u64 x, u64, u64) { return bits(f32(x)); }},
       {"cvt.rn.f32.s32 %q, %a;",
        [](u64 x, u64, u64) { return bits(static_cast<float>(static_cast<s32>(x))); }},
       {"cvt.rz.f32.u32 %q, %a;",
        [](u64 x, u64, u64) {
          return bits(rounded(FE_TOWARDZERO, [&] {
            volatile u32 v = static_cast<u32>(x);
            return static_cast<float>(v);
          }));
        }},
       {"cvt.rn.f64.u32 %t, %a;",
        [](u64 x, u64, u64) { return bits(static_cast<double>(static_cast<u32>(x))); }}},
      kSingles);
  check_forms(
      {{"cvt.rzi.s32.f64 %r, %u;",
        [](u64 x, u64, u64) { return to_integer<s32>(std::trunc(f64(x))); }},
       {"cvt.rzi.u64.f64 %R, %u;",
        [](u64 x, u64, u64) { return to_integer<u64>(std::trunc(f64(x))); }},
       {"cvt.rn.f32.f64 %q, %u;", [](u64 x, u64, u64) { return bits(static_cast<float>(f64(x))); }},
       {"cvt.rm.f32.f64 %q, %u;",
        [](u64 x, u64, u64) {
          return bits(rounded(FE_DOWNWARD, [&] { return static_cast<float>(f64(x)); }));
        }},
       {"cvt.rn.f64.s64 %t, %x;",
        [](u64 x, u64, u64) { return bits(static_cast<double>(static_cast<s64>(x))); }},
       {"cvt.rn.f32.u64 %q, %x;", [](u64 x, u64, u64) { return bits(static_cast<float>(x)); }}},
      kDoubles);
}

TEST_CASE("half precision is rounded once") {
  const auto half = [](u64 v) {
    return static_cast<float>(std::bit_cast<_Float16>(static_cast<u16>(v)));
  };
  const auto half_bits = [](float v) -> u64 {
    return v != v ? 0x7fff : std::bit_cast<u16>(static_cast<_Float16>(v));
  };
  const auto half_fma = [=](u64 x, u64 y, u64 z) -> u64 {
    const double exact =
        static_cast<double>(half(x)) * static_cast<double>(half(y)) + static_cast<double>(half(z));
    return exact != exact ? 0x7fff : std::bit_cast<u16>(static_cast<_Float16>(exact));
  };
  const auto brain = [](u64 v) { return f32((v & 0xffff) << 16); };
  const auto brain_bits = [](float v) -> u64 {
    const u32 raw = std::bit_cast<u32>(v);
    return v != v ? 0x7fff : (raw + 0x7fff + ((raw >> 16) & 1)) >> 16;
  };
  check_forms(
      {{"add.f16 %s, %h, %i;", [=](u64 x, u64 y, u64) { return half_bits(half(x) + half(y)); }},
       {"mul.f16 %s, %h, %i;", [=](u64 x, u64 y, u64) { return half_bits(half(x) * half(y)); }},
       {"sub.f16x2 %r, %a, %b;",
        [=](u64 x, u64 y, u64) {
          return half_bits(half(x) - half(y)) | half_bits(half(x >> 16) - half(y >> 16)) << 16;
        }},
       {"fma.rn.f16 %s, %h, %i, %j;", half_fma},
       {"abs.f16 %s, %h;", [](u64 x, u64, u64) { return x & 0x7fff; }},
       {"setp.eq.f16 %p, %h, %i;", [=](u64 x, u64 y, u64) { return u64{half(x) == half(y)}; }},
       {"set.eq.f16.f16 %s, %h, %i;",
        [=](u64 x, u64 y, u64) { return half(x) == half(y) ? half_bits(1.0F) : u64{0}; }},
       {"add.f16x2 %r, %a, %b;",
        [=](u64 x, u64 y, u64) {
          return half_bits(half(x) + half(y)) | half_bits(half(x >> 16) + half(y >> 16)) << 16;
        }},
       {"mul.f16x2 %r, %a, %b;",
        [=](u64 x, u64 y, u64) {
          return half_bits(half(x) * half(y)) | half_bits(half(x >> 16) * half(y >> 16)) << 16;
        }},
       {"fma.rn.f16x2 %r, %a, %b, %c;",
        [=](u64 x, u64 y, u64 z) {
          return half_fma(x, y, z) | half_fma(x >> 16, y >> 16, z >> 16) << 16;
        }},
       {"add.bf16 %s, %h, %i;", [=](u64 x, u64 y, u64) { return brain_bits(brain(x) + brain(y)); }},
       {"mul.bf16 %s, %h, %i;", [=](u64 x, u64 y, u64) { return brain_bits(brain(x) * brain(y)); }},
       {"max.bf16x2 %r, %a, %b;",
        [=](u64 x, u64 y, u64) {
          const auto most = [=](u64 a, u64 b) -> u64 {
            const float first = brain(a), second = brain(b);
            return (first == second ? a & b : first > second ? a : b) & 0xffff;
          };
          return most(x, y) | most(x >> 16, y >> 16) << 16;
        }},
       {"setp.lt.f16 %p, %h, %i;", [=](u64 x, u64 y, u64) { return u64{half(x) < half(y)}; }},
       {"neg.f16 %s, %h;", [](u64 x, u64, u64) { return (x ^ 0x8000) & 0xffff; }},
       {"cvt.f32.f16 %q, %h;",
        [=](u64 x, u64, u64) {
          const float v = half(x);
          return b32(v);
        }},
       {"cvt.rn.f16.f32 %s, %f;", [=](u64 x, u64, u64) { return half_bits(f32(x)); }},
       {"cvt.rn.f16x2.f32 %r, %f, %g;",
        [=](u64 x, u64 y, u64) { return half_bits(f32(x)) << 16 | half_bits(f32(y)); }},
       {"cvt.rzi.s32.f16 %r, %h;",
        [=](u64 x, u64, u64) { return to_integer<s32>(static_cast<double>(std::trunc(half(x)))); }},
       {"cvt.rn.f16.s32 %s, %a;",
        [=](u64 x, u64, u64) -> u64 {
          return std::bit_cast<u16>(
              static_cast<_Float16>(static_cast<double>(static_cast<s32>(x))));
        }},
       {"cvt.f32.bf16 %q, %h;", [=](u64 x, u64, u64) { return b32(brain(x)); }},
       {"cvt.rn.bf16.f32 %s, %f;", [=](u64 x, u64, u64) { return brain_bits(f32(x)); }}},
      {0x00000000, 0x3c003c00, 0xbc013555, 0x7bff0001, 0x83ff7bff, 0x3f804248, 0xc2f70a3d,
       0x477fe000, 0x33000001, 0x38d1b717, 0x80008001});
}

TEST_CASE("approximations stay within the bounds of the PTX manual") {
  Device device(kernel_text(R"(
    cvt.rn.f32.u32 %f1, %thread;
    mul.f32 %f1, %f1, 0f3C23D70A;
    sub.f32 %f2, %f1, 0f40A00000;
    ex2.approx.f32 %f3, %f2;
    ex2.approx.ftz.f32 %f13, %f2;
    lg2.approx.f32 %f4, %f1;
    sin.approx.f32 %f5, %f2;
    cos.approx.f32 %f6, %f2;
    tanh.approx.f32 %f7, %f2;
    rsqrt.approx.f32 %f8, %f1;
    rcp.approx.ftz.f32 %f9, %f1;
    sqrt.approx.f32 %f10, %f1;
    div.approx.f32 %f11, %f2, %f1;
    div.full.f32 %f12, %f2, %f1;
    mul.wide.u32 %d1, %thread, 64;
    add.u64 %d1, %base, %d1;
    st.global.v4.f32 [%d1], {%f1, %f2, %f3, %f4};
    st.global.v4.f32 [%d1+16], {%f5, %f6, %f7, %f8};
    st.global.v4.f32 [%d1+32], {%f9, %f10, %f11, %f12};
    // Of doubles: the reciprocal from the upper half of the operand's bits, and the root.
    cvt.f64.f32 %fd1, %f1;
    rcp.approx.ftz.f64 %fd2, %fd1;
    rsqrt.approx.f64 %fd3, %fd1;
    cvt.rn.f32.f64 %f14, %fd2;
    cvt.rn.f32.f64 %f15, %fd3;
    st.global.v4.f32 [%d1+48], {%f13, %f14, %f15, %f15};)"));
  const std::uint64_t out = device.buffer(std::vector<float>(16 * 1024, 0));
  device.run_well("k", shape({1}, {1024}), out);
  const auto values = device.read<float>(out, 16 * 1024);
  for (std::size_t i = 1; i < 1024; ++i) {
    const float* v = &values[i * 16];
    const auto x = static_cast<double>(v[0]), y = static_cast<double>(v[1]);
    const auto near = [](float got, double wanted, double relative, double absolute) {
      return std::abs(static_cast<double>(got) - wanted) <= std::abs(wanted) * relative + absolute;
    };
    REQUIRE(near(v[2], std::exp2(y), 0x1p-22, 0));
    REQUIRE(near(v[3], std::log2(x), 0x1p-22, 0x1p-22));
    REQUIRE(near(v[4], std::sin(y), 0, 0x1.6ap-21));
    REQUIRE(near(v[5], std::cos(y), 0, 0x1.6ap-21));
    REQUIRE(near(v[6], std::tanh(y), 0x1p-11, 0));
    REQUIRE(near(v[7], 1 / std::sqrt(x), 0x1p-22, 0));
    REQUIRE(near(v[8], 1 / x, 0x1p-23, 0));
    REQUIRE(near(v[9], std::sqrt(x), 0x1p-23, 0));
    REQUIRE(near(v[10], y / x, 0x1p-22, 0));
    REQUIRE(near(v[11], y / x, 0x1p-22, 0));
    REQUIRE(near(v[12], std::exp2(y), 0x1p-22, 0));
    REQUIRE(near(v[13], 1 / x, 0x1p-20, 0));
    REQUIRE(near(v[14], 1 / std::sqrt(x), 0x1p-22, 0));
  }
}
