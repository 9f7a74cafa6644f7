// Integer arithmetic. Results wrap, so everything is computed unsigned.
#include "emulator/execute/lanes/lanes.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

namespace {

using enum ptx::ScalarType;

__extension__ using s128 = __int128;
__extension__ using u128 = unsigned __int128;
template <class T, class Signed, class Unsigned>
using SignedAs = std::conditional_t<std::is_signed_v<T>, Signed, Unsigned>;
template <class T>
using Wider = std::conditional_t<
    sizeof(T) == 2, SignedAs<T, s32, u32>,
    std::conditional_t<sizeof(T) == 4, SignedAs<T, s64, u64>, SignedAs<T, s128, u128>>>;

// Narrow types promote to int, whose products could overflow.
template <class T>
using Computed = std::conditional_t<sizeof(T) == 8, u64, u32>;

template <class T>
constexpr auto kAdd = [](T a, T b) {
  return static_cast<T>(static_cast<Computed<T>>(a) + static_cast<Computed<T>>(b));
};
template <class T>
constexpr auto kSub = [](T a, T b) {
  return static_cast<T>(static_cast<Computed<T>>(a) - static_cast<Computed<T>>(b));
};
template <class T>
constexpr auto kMulLo = [](T a, T b) {
  return static_cast<T>(static_cast<Computed<T>>(a) * static_cast<Computed<T>>(b));
};
template <class T>
constexpr auto kMulHi = [](T a, T b) {
  return static_cast<T>((static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b)) >> (8 * sizeof(T)));
};
template <class T>
constexpr auto kMulWide =
    [](T a, T b) { return static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b); };
template <class T>
constexpr auto kMadLo = [](T a, T b, T c) { return kAdd<T>(kMulLo<T>(a, b), c); };
template <class T>
constexpr auto kMadHi = [](T a, T b, T c) { return kAdd<T>(kMulHi<T>(a, b), c); };
template <class T>
constexpr auto kMadWide = [](T a, T b, Wider<T> c) { return kAdd<Wider<T>>(kMulWide<T>(a, b), c); };
// What a GPU answers to a division by zero: all bits set.
template <class T>
constexpr auto kDiv = [](T a, T b) {
  if (b == 0) {
    return static_cast<T>(~T{0});
  }
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) {
      return kSub<T>(0, a);
    }
  }
  return static_cast<T>(a / b);
};
template <class T>
constexpr auto kRem = [](T a, T b) {
  if (b == 0) {
    return a;
  }
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) {
      return T{0};
    }
  }
  return static_cast<T>(a % b);
};
template <class T>
constexpr auto kMin = [](T a, T b) { return b < a ? b : a; };
template <class T>
constexpr auto kMax = [](T a, T b) { return a < b ? b : a; };
constexpr auto kMinRelu = [](s32 a, s32 b) { return kMax<s32>(kMin<s32>(a, b), 0); };
constexpr auto kMaxRelu = [](s32 a, s32 b) { return kMax<s32>(kMax<s32>(a, b), 0); };
template <class T>
constexpr auto kNeg = [](T a) { return kSub<T>(0, a); };
template <class T>
constexpr auto kAbs = [](T a) {
  if constexpr (std::is_signed_v<T>) {
    return a < 0 ? kSub<T>(0, a) : a;
  } else {
    return a;
  }
};
template <class T>
constexpr auto kSad =
    [](T a, T b, T c) { return kAdd<T>(c, a < b ? kSub<T>(b, a) : kSub<T>(a, b)); };

constexpr s32 saturate(s64 value) {
  constexpr s64 kLow = -(s64{1} << 31), kHigh = (s64{1} << 31) - 1;
  return static_cast<s32>(value < kLow ? kLow : value > kHigh ? kHigh : value);
}

constexpr auto kAddSat = [](s32 a, s32 b) { return saturate(s64{a} + b); };
constexpr auto kSubSat = [](s32 a, s32 b) { return saturate(s64{a} - b); };
constexpr auto kMadHiSat = [](s32 a, s32 b, s32 c) { return saturate(((s64{a} * b) >> 32) + c); };

// The low 24 bits, extended by their sign where T is signed.
template <class T>
constexpr Wider<T> low_24(T value) {
  return static_cast<T>(static_cast<u32>(value) << 8) >> 8;
}
template <class T>
constexpr auto kMul24Lo = [](T a, T b) { return static_cast<T>(low_24(a) * low_24(b)); };
template <class T>
constexpr auto kMul24Hi = [](T a, T b) { return static_cast<T>((low_24(a) * low_24(b)) >> 16); };
template <class T>
constexpr auto kMad24Lo = [](T a, T b, T c) { return kAdd<T>(kMul24Lo<T>(a, b), c); };
template <class T>
constexpr auto kMad24Hi = [](T a, T b, T c) { return kAdd<T>(kMul24Hi<T>(a, b), c); };

template <class A, class B, int Parts>
constexpr s32 dot(u32 a, u32 b, s32 c) {
  u32 sum = static_cast<u32>(c);
  for (int i = 0; i < Parts; ++i) {
    const auto x = static_cast<A>(a >> (i * 8 * static_cast<int>(sizeof(A))));
    const auto y = static_cast<B>(b >> (i * 8));
    sum += static_cast<u32>(static_cast<s32>(x) * static_cast<s32>(y));
  }
  return static_cast<s32>(sum);
}
template <class A, class B>
constexpr auto kDot4 = [](u32 a, u32 b, s32 c) { return dot<A, B, 4>(a, b, c); };
template <class A, class B>
constexpr auto kDot2Lo = [](u32 a, u32 b, s32 c) { return dot<A, B, 2>(a, b, c); };
template <class A, class B>
constexpr auto kDot2Hi = [](u32 a, u32 b, s32 c) { return dot<A, B, 2>(a, b >> 16, c); };

// The sum of |a.b0 - b.b0| … of the four bytes, added to c.
template <class B>
constexpr auto kAbsoluteDifferences = [](u32 a, u32 b, u32 c) {
  for (int i = 0; i < 32; i += 8) {
    const s32 difference = static_cast<B>(a >> i) - static_cast<B>(b >> i);
    c += static_cast<u32>(difference < 0 ? -difference : difference);
  }
  return c;
};
template <class B>
constexpr auto kAbsoluteDifference4 = [](u32 a, u32 b) {
  u32 result = 0;
  for (int i = 0; i < 32; i += 8) {
    const s32 difference = static_cast<B>(a >> i) - static_cast<B>(b >> i);
    result |= (static_cast<u32>(difference < 0 ? -difference : difference) & 0xff) << i;
  }
  return result;
};

#define BINARY(op) \
  for_integer(type, []<class T>(TypeTag<T>) -> Handler { return &map2<op<T>, T, T, T>; })
#define TERNARY(op) \
  for_integer(type, []<class T>(TypeTag<T>) -> Handler { return &map3<op<T>, T, T, T, T>; })

ptx::ScalarType wider(ptx::ScalarType type) {
  if (ptx::size_of(type) == 2) {
    return type == kS16 ? kS32 : kU32;
  }
  return type == kS32 ? kS64 : kU64;
}

template <template <class> class Pick>
Handler for_narrow(ptx::ScalarType type) {
  if (type == kU32) {
    return Pick<u32>::kHandler;
  }
  if (type == kS32) {
    return Pick<s32>::kHandler;
  }
  if (type == kU16) {
    return Pick<u16>::kHandler;
  }
  return type == kS16 ? Pick<s16>::kHandler : nullptr;
}

template <class T>
struct MulWide {
  static constexpr Handler kHandler = &map2<kMulWide<T>, Wider<T>, T, T>;
};

template <class T>
struct MadWide {
  static constexpr Handler kHandler = &map3<kMadWide<T>, Wider<T>, T, T, Wider<T>>;
};

Selection select_multiply(const Form& form) {
  const ptx::ScalarType type = form.type();
  if (form.wide) {
    return binary(for_narrow<MulWide>(type), wider(type), type, type);
  }
  return binary(form.hi ? BINARY(kMulHi) : BINARY(kMulLo), type, type, type);
}

Selection select_multiply_add(const Form& form) {
  const ptx::ScalarType type = form.type();
  if (form.wide) {
    return ternary(for_narrow<MadWide>(type), wider(type), type, type, wider(type));
  }
  if (form.sat) {
    const bool known = form.hi && type == kS32;
    return ternary(known ? &map3<kMadHiSat, s32, s32, s32, s32> : nullptr, type, type, type, type);
  }
  return ternary(form.hi ? TERNARY(kMadHi) : TERNARY(kMadLo), type, type, type, type);
}

template <class T>
Selection select_24(const Form& form) {
  const ptx::ScalarType type = form.type();
  if (form.opcode == Opcode::kMul24) {
    return binary(form.hi ? &map2<kMul24Hi<T>, T, T, T> : &map2<kMul24Lo<T>, T, T, T>, type, type,
                  type);
  }
  return ternary(form.hi ? &map3<kMad24Hi<T>, T, T, T, T> : &map3<kMad24Lo<T>, T, T, T, T>, type,
                 type, type, type);
}

template <class B>
Handler dot_handler(const Form& form, bool is_signed) {
  if (form.opcode == Opcode::kDp4a) {
    return is_signed ? &map3<kDot4<s8, B>, s32, u32, u32, s32>
                     : &map3<kDot4<u8, B>, s32, u32, u32, s32>;
  }
  if (form.hi) {
    return is_signed ? &map3<kDot2Hi<s16, B>, s32, u32, u32, s32>
                     : &map3<kDot2Hi<u16, B>, s32, u32, u32, s32>;
  }
  return is_signed ? &map3<kDot2Lo<s16, B>, s32, u32, u32, s32>
                   : &map3<kDot2Lo<u16, B>, s32, u32, u32, s32>;
}

// dp4a.atype.btype, dp2a.{lo,hi}.atype.btype
Selection select_dot(const Form& form) {
  const bool is_signed = form.types[0] == kS32;
  return ternary(
      form.types[1] == kS32 ? dot_handler<s8>(form, is_signed) : dot_handler<u8>(form, is_signed),
      kS32, kU32, kU32, kS32);
}

// vabsdiff4.u32.u32.u32[.add] d, a, b, c. Signed and mixed forms, masks and saturation are not
// known.
Selection select_video(const Form& form) {
  const ptx::Instruction& instruction = *form.instruction;
  const bool plain = form.types[1] == form.types[2] && !form.sat &&
                     instruction.modifiers.size() == (form.has(Modifier::kAdd) ? 4U : 3U);
  const bool zero = instruction.operands.size() == 4 &&
                    instruction.operands[3].kind == ptx::Operand::Kind::kInteger &&
                    instruction.operands[3].bits == 0;
  if (!plain || form.types[1] != kU32) {
    return {};
  }
  if (form.has(Modifier::kAdd)) {
    return ternary(&map3<kAbsoluteDifferences<u8>, u32, u32, u32, u32>, kU32, kU32, kU32, kU32);
  }
  return zero || instruction.operands.size() == 4
             ? ternary(&map2<kAbsoluteDifference4<u8>, u32, u32, u32>, kU32, kU32, kU32, kU32)
             : Selection{};
}

Selection select_sum(const Form& form) {
  const ptx::ScalarType type = form.type();
  const bool add = form.opcode == Opcode::kAdd;
  if (form.sat) {
    const Handler handler = add ? &map2<kAddSat, s32, s32, s32> : &map2<kSubSat, s32, s32, s32>;
    return binary(type == kS32 ? handler : nullptr, type, type, type);
  }
  return binary(add ? BINARY(kAdd) : BINARY(kSub), type, type, type);
}

Selection select_extreme(const Form& form) {
  const ptx::ScalarType type = form.type();
  const bool min = form.opcode == Opcode::kMin;
  if (form.has(Modifier::kRelu)) {
    const Handler handler = min ? &map2<kMinRelu, s32, s32, s32> : &map2<kMaxRelu, s32, s32, s32>;
    return binary(type == kS32 ? handler : nullptr, type, type, type);
  }
  return binary(min ? BINARY(kMin) : BINARY(kMax), type, type, type);
}

Selection select_sign(const Form& form) {
  const ptx::ScalarType type = form.type();
  const auto neg = []<class T>(TypeTag<T>) -> Handler { return &map1<kNeg<T>, T, T>; };
  const auto abs = []<class T>(TypeTag<T>) -> Handler { return &map1<kAbs<T>, T, T>; };
  return unary(form.opcode == Opcode::kNeg ? for_integer(type, neg) : for_integer(type, abs), type,
               type);
}

}  // namespace

Selection select_integer(const Form& form) {
  const ptx::ScalarType type = form.type();
  const Opcode op = form.opcode;
  if (op == Opcode::kAdd || op == Opcode::kSub) {
    return select_sum(form);
  }
  if (op == Opcode::kMul) {
    return select_multiply(form);
  }
  if (op == Opcode::kMad) {
    return select_multiply_add(form);
  }
  if (op == Opcode::kMul24 || op == Opcode::kMad24) {
    return type == kS32 ? select_24<s32>(form) : select_24<u32>(form);
  }
  if (op == Opcode::kDiv || op == Opcode::kRem) {
    return binary(op == Opcode::kDiv ? BINARY(kDiv) : BINARY(kRem), type, type, type);
  }
  if (op == Opcode::kMin || op == Opcode::kMax) {
    return select_extreme(form);
  }
  if (op == Opcode::kAbs || op == Opcode::kNeg) {
    return select_sign(form);
  }
  if (op == Opcode::kSad) {
    return ternary(TERNARY(kSad), type, type, type, type);
  }
  if (op == Opcode::kVabsdiff4) {
    return select_video(form);
  }
  return op == Opcode::kDp4a || op == Opcode::kDp2a ? select_dot(form) : Selection{};
}

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
