// cvt to tf32, and between f32 or f16 pairs and pairs of 8-bit floating-point types.
#include "emulator/execute/fp8.h"
#include "emulator/execute/lanes/half.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

namespace {

using enum ptx::ScalarType;

constexpr u8 kRelu = 1, kSatFinite = 2;

// Keeps 10 bits of the fraction.
template <Rounding R>
u32 to_tf32(u32 bits, u8 flags) {
  constexpr u32 kDropped = 0x1fff, kInfinity = 0x7f800000U, kLargest = 0x7f7fe000U;
  const u32 sign = bits & 0x80000000U;
  u32 magnitude = bits & 0x7fffffffU;
  if (magnitude > kInfinity) {
    return 0x7fffffffU;
  }
  if ((flags & kRelu) != 0 && sign != 0) {
    return 0;
  }
  if (magnitude != kInfinity) {
    const u32 odd = (magnitude >> 13) & 1;
    magnitude += R == Rounding::kAway ? 0x1000U : R == Rounding::kNearest ? 0xfffU + odd : 0U;
    magnitude &= ~kDropped;
  }
  if ((flags & kSatFinite) != 0 && magnitude >= kInfinity) {
    magnitude = kLargest;
  }
  return sign | magnitude;
}

template <Rounding R>
Step tf32_lanes(Context& c, const Instruction& in, u32 mask) {
  const u32* a = source<u32>(c, in.a);
  fill(target<u32>(c, in.d), mask, [&](int i) { return to_tf32<R>(a[i], in.flags); });
  return Step::kNext;
}

Selection select_tf32(const Form& form) {
  const Handler handler = form.rounding == Rounding::kAway      ? &tf32_lanes<Rounding::kAway>
                          : form.rounding == Rounding::kNearest ? &tf32_lanes<Rounding::kNearest>
                          : form.rounding == Rounding::kZero    ? &tf32_lanes<Rounding::kZero>
                                                                : nullptr;
  Selection selection = unary(form.types[1] == kF32 ? handler : nullptr, kB32, kB32);
  selection.flags = static_cast<u8>((form.has(Modifier::kRelu) ? kRelu : 0) |
                                    (form.has(Modifier::kSatfinite) ? kSatFinite : 0));
  return selection;
}

float without_negative(float value, u8 flags) {
  return (flags & kRelu) != 0 && value < 0 ? 0.0F : value;
}

using Narrow = std::uint8_t (*)(float);
using Widen = float (*)(std::uint8_t);

// d, a, b: a goes to the upper byte.
template <Narrow To>
Step from_singles(Context& c, const Instruction& in, u32 mask) {
  const auto* a = source<float>(c, in.a);
  const auto* b = source<float>(c, in.b);
  u32* d = target<u32>(c, in.d);
  for (const int i : SetBits<int>(mask)) {
    d[i] = u32{To(without_negative(a[i], in.flags))} << 8 | To(without_negative(b[i], in.flags));
  }
  return Step::kNext;
}

template <Narrow To>
Step from_halves(Context& c, const Instruction& in, u32 mask) {
  const u32* a = source<u32>(c, in.a);
  u32* d = target<u32>(c, in.d);
  for (const int i : SetBits<int>(mask)) {
    const float low = to_float(std::bit_cast<_Float16>(static_cast<u16>(a[i])));
    const float high = to_float(std::bit_cast<_Float16>(static_cast<u16>(a[i] >> 16)));
    d[i] = u32{To(without_negative(high, in.flags))} << 8 | To(without_negative(low, in.flags));
  }
  return Step::kNext;
}

template <Widen From>
Step to_halves(Context& c, const Instruction& in, u32 mask) {
  const u32* a = source<u32>(c, in.a);
  u32* d = target<u32>(c, in.d);
  const auto half = [&](u32 byte) -> u32 {
    const float value = without_negative(From(static_cast<u8>(byte)), in.flags);
    return std::bit_cast<u16>(to_half<_Float16>(value));
  };
  for (const int i : SetBits<int>(mask)) {
    d[i] = half(a[i]) | half(a[i] >> 8) << 16;
  }
  return Step::kNext;
}

bool is_fp8(ptx::ScalarType type) {
  return type == kE4m3x2 || type == kE5m2x2;
}

}  // namespace

bool is_narrow(const Form& form) {
  return form.types[0] == kTf32 || is_fp8(form.types[0]) || is_fp8(form.types[1]);
}

Selection select_narrow_conversion(const Form& form) {
  const ptx::ScalarType d = form.types[0], s = form.types[1];
  if (d == kTf32) {
    return select_tf32(form);
  }
  if (form.rounding != Rounding::kNearest) {
    return {};
  }
  Selection selection;
  if (s == kF32 && form.has(Modifier::kSatfinite)) {
    selection =
        binary(d == kE4m3x2 ? &from_singles<&to_e4m3> : &from_singles<&to_e5m2>, kB16, kF32, kF32);
  } else if (s == kF16x2 && form.has(Modifier::kSatfinite)) {
    selection = unary(d == kE4m3x2 ? &from_halves<&to_e4m3> : &from_halves<&to_e5m2>, kB16, kB32);
  } else if (d == kF16x2) {
    selection = unary(s == kE4m3x2 ? &to_halves<&from_e4m3> : &to_halves<&from_e5m2>, kB32, kB16);
  }
  selection.flags = form.has(Modifier::kRelu) ? kRelu : u8{0};
  return selection;
}

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
