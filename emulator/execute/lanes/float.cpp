// f32 and f64 arithmetic, rounding to nearest; other roundings are in rounded.cpp.
#include "emulator/execute/lanes/float.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

namespace {

using enum ptx::ScalarType;

constexpr auto kAdd = []<class T>(T a, T b) { return a + b; };
constexpr auto kSub = []<class T>(T a, T b) { return a - b; };
constexpr auto kMul = []<class T>(T a, T b) { return a * b; };
constexpr auto kDiv = []<class T>(T a, T b) { return a / b; };
constexpr auto kFma = []<class T>(T a, T b, T c) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_fmaf(a, b, c);
  } else {
    return __builtin_fma(a, b, c);
  }
};
constexpr auto kSqrt = []<class T>(T a) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_sqrtf(a);
  } else {
    return __builtin_sqrt(a);
  }
};
constexpr auto kRcp = []<class T>(T a) { return T{1} / a; };
constexpr auto kRsqrt = []<class T>(T a) {
  if constexpr (sizeof(T) == 4) {
    return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a)));
  } else {
    return 1.0 / __builtin_sqrt(a);
  }
};

template <class T>
[[gnu::always_inline]] inline bool sign_bit(T value) {
  return static_cast<std::make_signed_t<Lane<T>>>(std::bit_cast<Lane<T>>(value)) < 0;
}

// -0 is less than +0; of a number and a NaN the number is chosen, unless .NaN.
template <bool Max, bool Nan>
constexpr auto kExtreme = []<class T>(T a, T b) {
  const bool first_smaller = a < b || (a == b && sign_bit(a));
  const T chosen = first_smaller == Max ? b : a;
  const T number = a != a ? b : (b != b ? a : chosen);
  return Nan && (a != a || b != b) ? a + b : number;
};

template <class T>
constexpr auto kAbs = [](T a) {
  constexpr Lane<T> kSign = Lane<T>{1} << (8 * sizeof(T) - 1);
  return std::bit_cast<T>(std::bit_cast<Lane<T>>(a) & static_cast<Lane<T>>(~kSign));
};
template <class T>
constexpr auto kNeg = [](T a) {
  constexpr Lane<T> kSign = Lane<T>{1} << (8 * sizeof(T) - 1);
  return std::bit_cast<T>(std::bit_cast<Lane<T>>(a) ^ kSign);
};
constexpr auto kAbsFtz = [](float a) { return kAbs<float>(flush(a)); };
constexpr auto kNegFtz = [](float a) { return kNeg<float>(flush(a)); };

// copysign d, a, b: b with the sign of a.
template <class T>
constexpr auto kCopySign = [](T a, T b) {
  constexpr Lane<T> kSign = Lane<T>{1} << (8 * sizeof(T) - 1);
  return std::bit_cast<T>((std::bit_cast<Lane<T>>(a) & kSign) |
                          (std::bit_cast<Lane<T>>(b) & static_cast<Lane<T>>(~kSign)));
};

Selection select_sign(const Form& form) {
  const ptx::ScalarType type = form.type();
  const bool neg = form.opcode == Opcode::kNeg;
  if (type == kF64) {
    return unary(neg ? &map1<kNeg<double>, double, double> : &map1<kAbs<double>, double, double>,
                 type, type);
  }
  if (form.ftz) {
    return unary(neg ? &map1<kNegFtz, float, float> : &map1<kAbsFtz, float, float>, type, type);
  }
  return unary(neg ? &map1<kNeg<float>, float, float> : &map1<kAbs<float>, float, float>, type,
               type);
}

enum class Test : u8 { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };

template <class T, Test Wanted>
bool passes(T value) {
  using L = Lane<T>;
  constexpr L kExponent = sizeof(T) == 4 ? L{0x7f800000U} : static_cast<L>(0x7ff0000000000000U);
  constexpr L kMantissa = sizeof(T) == 4 ? L{0x007fffffU} : static_cast<L>(0x000fffffffffffffU);
  const L exponent = std::bit_cast<L>(value) & kExponent;
  const L mantissa = std::bit_cast<L>(value) & kMantissa;
  switch (Wanted) {
    case Test::kFinite:
      return exponent != kExponent;
    case Test::kInfinite:
      return exponent == kExponent && mantissa == 0;
    case Test::kNumber:
      return exponent != kExponent || mantissa == 0;
    case Test::kNotANumber:
      return exponent == kExponent && mantissa != 0;
    case Test::kNormal:
      return exponent != 0 && exponent != kExponent;
    case Test::kSubnormal:
      return exponent == 0 && mantissa != 0;
  }
  return false;
}

template <class T, Test Wanted>
Step test_property(Context& c, const Instruction& in, u32 mask) {
  const auto* a = source<T>(c, in.a);
  set_predicate(c, in.d, lanes_where([&](int i) { return passes<T, Wanted>(a[i]); }), mask);
  return Step::kNext;
}

template <class T>
Handler test_handler(const Form& form) {
  if (form.has(Modifier::kFinite)) {
    return &test_property<T, Test::kFinite>;
  }
  if (form.has(Modifier::kInfinite)) {
    return &test_property<T, Test::kInfinite>;
  }
  if (form.has(Modifier::kNumber)) {
    return &test_property<T, Test::kNumber>;
  }
  if (form.has(Modifier::kNotanumber)) {
    return &test_property<T, Test::kNotANumber>;
  }
  if (form.has(Modifier::kNormal)) {
    return &test_property<T, Test::kNormal>;
  }
  return form.has(Modifier::kSubnormal) ? &test_property<T, Test::kSubnormal> : nullptr;
}

Selection select_extreme(const Form& form) {
  if (form.has(Modifier::kXorsign) || form.instruction->operands.size() != 3) {
    return {};
  }
  if (form.opcode == Opcode::kMin) {
    return form.has(Modifier::kNaN) ? float_binary<kExtreme<false, true>>(form)
                                    : float_binary<kExtreme<false, false>>(form);
  }
  return form.has(Modifier::kNaN) ? float_binary<kExtreme<true, true>>(form)
                                  : float_binary<kExtreme<true, false>>(form);
}

Selection select_root(const Form& form) {
  if (form.opcode == Opcode::kSqrt) {
    return float_unary<kSqrt>(form);
  }
  return form.opcode == Opcode::kRcp ? float_unary<kRcp>(form) : float_unary<kRsqrt>(form);
}

}  // namespace

Selection select_float(const Form& form) {
  const Opcode op = form.opcode;
  const ptx::ScalarType type = form.type();
  if (form.rounding == Rounding::kZero || form.rounding == Rounding::kDown ||
      form.rounding == Rounding::kUp) {
    return select_rounded(form);
  }
  if (op == Opcode::kAdd) {
    return float_binary<kAdd>(form);
  }
  if (op == Opcode::kSub) {
    return float_binary<kSub>(form);
  }
  if (op == Opcode::kMul) {
    return float_binary<kMul>(form);
  }
  if (op == Opcode::kFma || op == Opcode::kMad) {
    return float_ternary<kFma>(form);
  }
  if (op == Opcode::kDiv) {
    return float_binary<kDiv>(form);
  }
  if (op == Opcode::kMin || op == Opcode::kMax) {
    return select_extreme(form);
  }
  if (op == Opcode::kSqrt || op == Opcode::kRcp || op == Opcode::kRsqrt) {
    return select_root(form);
  }
  if (op == Opcode::kAbs || op == Opcode::kNeg) {
    return select_sign(form);
  }
  if (op == Opcode::kCopysign) {
    return binary(type == kF64 ? &map2<kCopySign<double>, double, double, double>
                               : &map2<kCopySign<float>, float, float, float>,
                  type, type, type);
  }
  if (op == Opcode::kTestp) {
    return unary(type == kF64 ? test_handler<double>(form) : test_handler<float>(form), kPred,
                 type);
  }
  return {};
}

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
