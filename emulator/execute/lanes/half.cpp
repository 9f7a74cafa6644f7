#include "emulator/execute/lanes/half.h"

#include <bit>
#include <limits>

#include "emulator/execute/lanes/relation.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

namespace {

using enum ptx::ScalarType;

template <class H>
[[gnu::always_inline]] inline H half_of(u32 bits) {
  return std::bit_cast<H>(static_cast<u16>(bits));
}

template <class H>
[[gnu::always_inline]] inline u32 bits_of(H value) {
  return std::bit_cast<u16>(value);
}

constexpr auto kAdd = [](float a, float b, float) { return a + b; };
constexpr auto kSub = [](float a, float b, float) { return a - b; };
constexpr auto kMul = [](float a, float b, float) { return a * b; };
// The product of two halves is exact in double.
constexpr auto kFma = [](float a, float b, float c) {
  return static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c);
};
constexpr auto kMin = [](float a, float b, float) {
  const bool first = a < b || (a == b && __builtin_signbit(a) != 0);
  return a != a ? b : (b != b ? a : (first ? a : b));
};
constexpr auto kMax = [](float a, float b, float) {
  const bool second = a < b || (a == b && __builtin_signbit(a) != 0);
  return a != a ? b : (b != b ? a : (second ? b : a));
};
constexpr auto kAbs = [](float a, float, float) { return __builtin_fabsf(a); };
constexpr auto kNeg = [](float a, float, float) { return -a; };
constexpr auto kTanh = [](float a, float, float) { return __builtin_tanhf(a); };
constexpr auto kExp2 = [](float a, float, float) { return __builtin_exp2f(a); };

constexpr u8 kSat = 1, kRelu = 2;

template <auto Op, class H>
[[gnu::always_inline]] inline u32 one(u32 a, u32 b, u32 c, u8 flags) {
  const auto value = Op(to_float(half_of<H>(a)), to_float(half_of<H>(b)), to_float(half_of<H>(c)));
  H result = to_half<H>(value);
  const float rounded = to_float(result);
  if ((flags & kSat) != 0) {
    result = to_half<H>(clamp_to_unit(rounded));
  } else if ((flags & kRelu) != 0 && rounded < 0) {
    result = to_half<H>(0.0F);
  }
  return bits_of(result);
}

template <auto Op, class H, int Operands, bool Packed>
Step half_operation(Context& c, const Instruction& in, u32 mask) {
  const u32* a = source<u32>(c, in.a);
  const u32* b = Operands > 1 ? source<u32>(c, in.b) : a;
  const u32* third = Operands > 2 ? source<u32>(c, in.c) : a;
  fill(target<u32>(c, in.d), mask, [&](int i) {
    const u32 low = one<Op, H>(a[i], b[i], third[i], in.flags);
    if constexpr (Packed) {
      return low | one<Op, H>(a[i] >> 16, b[i] >> 16, third[i] >> 16, in.flags) << 16;
    }
    return low;
  });
  return Step::kNext;
}

template <auto Op, int Operands>
Selection half_selection(const Form& form) {
  const ptx::ScalarType type = form.type();
  const Handler handler = type == kF16     ? &half_operation<Op, _Float16, Operands, false>
                          : type == kF16x2 ? &half_operation<Op, _Float16, Operands, true>
                          : type == kBf16  ? &half_operation<Op, Bfloat16, Operands, false>
                                           : &half_operation<Op, Bfloat16, Operands, true>;
  const ptx::ScalarType bound = type == kF16x2 || type == kBf16x2 ? kB32 : kB16;
  Selection selection = ternary(handler, bound, bound, bound, bound);
  selection.source_count = Operands;
  selection.flags =
      static_cast<u8>((form.sat ? kSat : 0) | (form.has(Modifier::kRelu) ? kRelu : 0));
  return selection;
}

// --- conversions ---

template <class D, class S>
D convert(S value) {
  if constexpr (std::is_same_v<S, Bfloat16> || std::is_same_v<S, _Float16>) {
    const float wide = to_float(value);
    if constexpr (std::is_same_v<D, Bfloat16> || std::is_same_v<D, _Float16>) {
      return to_half<D>(wide);
    } else {
      return static_cast<D>(wide);
    }
  } else {
    return to_half<D>(static_cast<double>(value));
  }
}

template <class D, class S>
constexpr auto kConvert = [](S a) { return convert<D, S>(a); };

template <class D, class S>
Step convert_lanes(Context& c, const Instruction& in, u32 mask) {
  const auto* a = source<Lane<S>>(c, in.a);
  auto* d = target<Lane<D>>(c, in.d);
  for (const int i : SetBits<int>(mask)) {
    d[i] = to_lane<D>(kConvert<D, S>(from_lane<S>(a[i])));
  }
  return Step::kNext;
}

// The neighbour of the nearest half that a directed rounding wants.
template <class H>
H round_half(float value, Rounding rounding) {
  const H nearest = to_half<H>(value);
  const float near = to_float(nearest);
  const u32 bits = bits_of(nearest);
  const bool negative = (bits & 0x8000U) != 0;
  const bool down = rounding == Rounding::kDown || (rounding == Rounding::kZero && value > 0);
  if (near == value || value != value || rounding == Rounding::kNearest ||
      (down ? near < value : near > value)) {
    return nearest;
  }
  // Zero has two neighbours of different signs.
  if ((bits & 0x7fffU) == 0) {
    return half_of<H>(down ? 0x8001U : 1U);
  }
  return half_of<H>(down != negative ? bits - 1 : bits + 1);
}

constexpr u8 kSatFinite = 4, kRoundingShift = 3;

// flags: kSat, kRelu, kSatFinite, and the rounding above them.
template <class H>
H finished_half(float value, u8 flags) {
  H result = round_half<H>(value, static_cast<Rounding>(flags >> kRoundingShift));
  if ((flags & kSat) != 0) {
    return to_half<H>(clamp_to_unit(to_float(result)));
  }
  if ((flags & kRelu) != 0 && to_float(result) < 0) {
    return to_half<H>(0.0F);
  }
  if ((flags & kSatFinite) != 0 && __builtin_isinf(to_float(result))) {
    result = half_of<H>(bits_of(result) - 1);
  }
  return result;
}

u8 half_flags(const Form& form) {
  const Rounding rounding = form.rounding == Rounding::kNone ? Rounding::kNearest : form.rounding;
  return static_cast<u8>((form.sat ? kSat : 0) | (form.has(Modifier::kRelu) ? kRelu : 0) |
                         (form.has(Modifier::kSatfinite) ? kSatFinite : 0) |
                         static_cast<u8>(rounding) << kRoundingShift);
}

template <class H>
Step to_half_finished(Context& c, const Instruction& in, u32 mask) {
  const auto* a = source<float>(c, in.a);
  u32* d = target<u32>(c, in.d);
  for (const int i : SetBits<int>(mask)) {
    d[i] = bits_of(finished_half<H>(a[i], in.flags));
  }
  return Step::kNext;
}

// cvt.rn.f16x2.f32 d, a, b: a goes to the upper half.
template <class H>
Step pack_halves(Context& c, const Instruction& in, u32 mask) {
  const auto* a = source<float>(c, in.a);
  const auto* b = source<float>(c, in.b);
  fill(target<u32>(c, in.d), mask, [&](int i) {
    return bits_of(finished_half<H>(a[i], in.flags)) << 16 |
           bits_of(finished_half<H>(b[i], in.flags));
  });
  return Step::kNext;
}

// Rounds to an integer first (.rni …), then to D with clamping.
template <class D, class H>
Step half_to_integer(Context& c, const Instruction& in, u32 mask) {
  const u32* a = source<u32>(c, in.a);
  auto* d = target<Lane<D>>(c, in.d);
  for (const int i : SetBits<int>(mask)) {
    const auto value = static_cast<double>(to_float(half_of<H>(a[i])));
    const double whole = in.flags == 1   ? __builtin_rint(value)
                         : in.flags == 2 ? __builtin_floor(value)
                         : in.flags == 3 ? __builtin_ceil(value)
                                         : __builtin_trunc(value);
    constexpr auto kLow = static_cast<double>(std::numeric_limits<D>::min());
    constexpr double kBeyond =
        static_cast<double>(D{1} << (std::numeric_limits<D>::digits - 1)) * 2;
    const D clamped = whole < kLow       ? std::numeric_limits<D>::min()
                      : whole >= kBeyond ? std::numeric_limits<D>::max()
                                         : static_cast<D>(whole != whole ? 0 : whole);
    d[i] = to_lane<D>(clamped);
  }
  return Step::kNext;
}

template <class H>
Step half_to_integral(Context& c, const Instruction& in, u32 mask) {
  const u32* a = source<u32>(c, in.a);
  fill(target<u32>(c, in.d), mask, [&](int i) {
    const float value = to_float(half_of<H>(a[i]));
    const float whole = in.flags == 1   ? __builtin_rintf(value)
                        : in.flags == 2 ? __builtin_floorf(value)
                        : in.flags == 3 ? __builtin_ceilf(value)
                                        : __builtin_truncf(value);
    return bits_of(to_half<H>(whole));
  });
  return Step::kNext;
}

u8 integral_flags(Rounding rounding) {
  return rounding == Rounding::kNearestInteger ? u8{1}
         : rounding == Rounding::kDownInteger  ? u8{2}
         : rounding == Rounding::kUpInteger    ? u8{3}
                                               : u8{0};
}

template <class H>
Selection from_half(const Form& form) {
  const ptx::ScalarType type = form.types[0];
  if (type == kF32) {
    return unary(&convert_lanes<float, H>, kF32, kB16);
  }
  if (type == kF64) {
    return unary(&convert_lanes<double, H>, kF64, kB16);
  }
  if (type == form.types[1]) {
    Selection selection = unary(&half_to_integral<H>, kB16, kB16);
    selection.flags = integral_flags(form.rounding);
    return form.rounding == Rounding::kNone ? Selection{} : selection;
  }
  if (type == kBf16 || type == kF16) {
    return unary(type == kF16 ? &convert_lanes<_Float16, H> : &convert_lanes<Bfloat16, H>, kB16,
                 kB16);
  }
  Selection selection =
      unary(for_integer_or_byte(
                type, []<class D>(TypeTag<D>) -> Handler { return &half_to_integer<D, H>; }),
            type, kB16);
  selection.flags = integral_flags(form.rounding);
  return selection;
}

template <class H>
Selection to_half_selection(const Form& form) {
  const ptx::ScalarType type = form.types[1];
  if (type == kF32) {
    Selection selection = unary(&to_half_finished<H>, kB16, kF32);
    selection.flags = half_flags(form);
    return selection;
  }
  if (form.rounding != Rounding::kNearest || form.has(Modifier::kSatfinite)) {
    return {};
  }
  if (type == kF64) {
    return unary(&convert_lanes<H, double>, kB16, kF64);
  }
  return unary(for_integer_or_byte(
                   type, []<class S>(TypeTag<S>) -> Handler { return &convert_lanes<H, S>; }),
               kB16, type);
}

}  // namespace

Selection select_half_conversion(const Form& form) {
  const bool directed = form.rounding == Rounding::kZero || form.rounding == Rounding::kDown ||
                        form.rounding == Rounding::kUp || form.has(Modifier::kSatfinite);
  if (form.rounding == Rounding::kAway || (directed && form.types[1] != kF32)) {
    return {};
  }
  const ptx::ScalarType d = form.types[0], s = form.types[1];
  if (d == kF16x2 || d == kBf16x2) {
    Selection selection = binary(
        s == kF32 ? (d == kF16x2 ? &pack_halves<_Float16> : &pack_halves<Bfloat16>) : nullptr, kB32,
        kF32, kF32);
    selection.flags = half_flags(form);
    return selection;
  }
  if (s == kF16) {
    return from_half<_Float16>(form);
  }
  if (s == kBf16) {
    return from_half<Bfloat16>(form);
  }
  return d == kF16    ? to_half_selection<_Float16>(form)
         : d == kBf16 ? to_half_selection<Bfloat16>(form)
                      : Selection{};
}

namespace {

template <class H, bool Packed>
Step half_sign(Context& c, const Instruction& in, u32 mask) {
  const u32* a = source<u32>(c, in.a);
  const u32 sign = Packed ? 0x80008000U : 0x8000U;
  fill(target<u32>(c, in.d), mask,
       [&](int i) { return in.flags != 0 ? a[i] ^ sign : a[i] & ~sign; });
  return Step::kNext;
}

// flags: the relation.
template <class H>
Step half_setp(Context& c, const Instruction& in, u32 mask) {
  const u32* a = source<u32>(c, in.a);
  const u32* b = source<u32>(c, in.b);
  const auto relation = static_cast<Relation>(in.flags);
  u32 low = 0, high = 0;
  for (const int i : SetBits<int>(mask)) {
    low |= holds(relation, to_float(half_of<H>(a[i])), to_float(half_of<H>(b[i]))) ? kBit[i] : 0U;
    high |= holds(relation, to_float(half_of<H>(a[i] >> 16)), to_float(half_of<H>(b[i] >> 16)))
                ? kBit[i]
                : 0U;
  }
  if (in.d != kNoSlot) {
    set_predicate(c, in.d, low, mask);
  }
  if (in.e != kNoSlot) {
    set_predicate(c, in.e, in.count == 2 ? high : ~low, mask);
  }
  return Step::kNext;
}

template <class H>
Step half_set(Context& c, const Instruction& in, u32 mask) {
  const u32* a = source<u32>(c, in.a);
  const u32* b = source<u32>(c, in.b);
  const auto relation = static_cast<Relation>(in.flags);
  const u32 yes = bits_of(to_half<H>(1.0F));
  fill(target<u32>(c, in.d), mask, [&](int i) {
    return holds(relation, to_float(half_of<H>(a[i])), to_float(half_of<H>(b[i]))) ? yes : 0U;
  });
  return Step::kNext;
}

Selection select_half_compare(const Form& form) {
  if (form.has(Modifier::kAnd) || form.has(Modifier::kOr) || form.has(Modifier::kXor)) {
    return {};
  }
  const bool set = form.opcode == Opcode::kSet;
  const ptx::ScalarType type = form.types[set ? 1 : 0];
  if ((type != kF16 && type != kBf16) || (set && form.types[0] != type)) {
    return {};
  }
  for (int i = 0; i < 14; ++i) {
    if (!form.has(kRelationNames[i])) {
      continue;
    }
    const bool ieee = type == kF16;
    const Handler predicates = ieee ? &half_setp<_Float16> : &half_setp<Bfloat16>;
    const Handler words = ieee ? &half_set<_Float16> : &half_set<Bfloat16>;
    Selection selection = binary(set ? words : predicates, set ? kB16 : kPred, kB16, kB16);
    selection.second_result = !set;
    selection.flags = static_cast<u8>(i);
    return selection;
  }
  return {};
}

Selection select_half_sign(const Form& form) {
  const bool packed = form.type() == kF16x2 || form.type() == kBf16x2;
  const ptx::ScalarType bound = packed ? kB32 : kB16;
  Selection selection =
      unary(packed ? &half_sign<_Float16, true> : &half_sign<_Float16, false>, bound, bound);
  selection.flags = form.opcode == Opcode::kNeg ? 1 : 0;
  return selection;
}

}  // namespace

Selection select_half(const Form& form) {
  const Opcode op = form.opcode;
  if (op == Opcode::kAdd) {
    return half_selection<kAdd, 2>(form);
  }
  if (op == Opcode::kSub) {
    return half_selection<kSub, 2>(form);
  }
  if (op == Opcode::kMul) {
    return half_selection<kMul, 2>(form);
  }
  if (op == Opcode::kFma) {
    return half_selection<kFma, 3>(form);
  }
  if ((op == Opcode::kMin || op == Opcode::kMax) && !form.has(Modifier::kNaN) &&
      !form.has(Modifier::kXorsign)) {
    return op == Opcode::kMin ? half_selection<kMin, 2>(form) : half_selection<kMax, 2>(form);
  }
  if (op == Opcode::kAbs || op == Opcode::kNeg) {
    return select_half_sign(form);
  }
  if (op == Opcode::kTanh) {
    return half_selection<kTanh, 1>(form);
  }
  if (op == Opcode::kEx2) {
    return half_selection<kExp2, 1>(form);
  }
  return op == Opcode::kSetp || op == Opcode::kSet ? select_half_compare(form) : Selection{};
}

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
