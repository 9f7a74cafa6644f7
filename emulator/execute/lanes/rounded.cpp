// Directed roundings: the host's rounding mode is set around the lanes. Compiled with
// -frounding-math; the operations read their operands through volatile-like barriers, so that none
// is moved out of the region or folded.
#include <xmmintrin.h>

#include "emulator/execute/lanes/half.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

namespace {

using enum ptx::ScalarType;

class RoundingRegion {
 public:
  explicit RoundingRegion(u8 rounding) : before_(_mm_getcsr()) {
    constexpr u32 kModes[] = {_MM_ROUND_TOWARD_ZERO, _MM_ROUND_DOWN, _MM_ROUND_UP};
    _mm_setcsr((before_ & ~u32{_MM_ROUND_MASK}) | kModes[rounding]);
  }

  ~RoundingRegion() { _mm_setcsr(before_); }

  RoundingRegion(const RoundingRegion&) = delete;
  RoundingRegion& operator=(const RoundingRegion&) = delete;

 private:
  u32 before_;
};

template <class T>
[[gnu::always_inline]] inline T opaque(T value) {
  asm volatile("" : "+x"(value));
  return value;
}

enum class Op : u8 { kAdd, kSub, kMul, kDiv, kRcp, kSqrt, kFma };

template <class T>
T fused(T a, T b, T c) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_fmaf(a, b, c);
  } else {
    return __builtin_fma(a, b, c);
  }
}

template <class T, Op Kind>
T compute(T a, T b, T c) {
  switch (Kind) {
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    case Op::kDiv:
      return a / b;
    case Op::kRcp:
      return T{1} / a;
    case Op::kSqrt:
      return sizeof(T) == 4 ? static_cast<T>(__builtin_sqrtf(static_cast<float>(a)))
                            : static_cast<T>(__builtin_sqrt(a));
    case Op::kFma:
      return fused(a, b, c);
  }
  return a;
}

constexpr u8 kRoundingBits = 3, kFtz = 4, kSat = 8;

template <class T, Op Kind>
Step rounded(Context& c, const Instruction& in, u32 mask) {
  const T* a = source<T>(c, in.a);
  const T* b = Kind == Op::kRcp || Kind == Op::kSqrt ? a : source<T>(c, in.b);
  const T* third = Kind == Op::kFma ? source<T>(c, in.c) : a;
  T* d = target<T>(c, in.d);
  const bool ftz = (in.flags & kFtz) != 0;
  const RoundingRegion region(in.flags & kRoundingBits);
  for (const int i : SetBits<int>(mask)) {
    const T x = opaque(ftz ? flush(a[i]) : a[i]);
    const T y = opaque(ftz ? flush(b[i]) : b[i]);
    const T z = opaque(ftz ? flush(third[i]) : third[i]);
    T result = opaque(compute<T, Kind>(x, y, z));
    result = ftz ? flush(result) : result;
    d[i] = (in.flags & kSat) != 0 ? clamp_to_unit(result) : canonical(result);
  }
  return Step::kNext;
}

template <Op Kind>
Handler handler_of(ptx::ScalarType type) {
  return for_float(type, []<class T>(TypeTag<T>) -> Handler { return &rounded<T, Kind>; });
}

u8 flags_of(const Form& form) {
  const int mode = form.rounding == Rounding::kZero ? 0 : form.rounding == Rounding::kDown ? 1 : 2;
  return static_cast<u8>(mode | (form.ftz ? kFtz : 0) | (form.sat ? kSat : 0));
}

}  // namespace

Selection select_rounded(const Form& form) {
  const ptx::ScalarType type = form.type();
  const Opcode op = form.opcode;
  Selection selection;
  if (op == Opcode::kAdd) {
    selection = binary(handler_of<Op::kAdd>(type), type, type, type);
  } else if (op == Opcode::kSub) {
    selection = binary(handler_of<Op::kSub>(type), type, type, type);
  } else if (op == Opcode::kMul) {
    selection = binary(handler_of<Op::kMul>(type), type, type, type);
  } else if (op == Opcode::kDiv) {
    selection = binary(handler_of<Op::kDiv>(type), type, type, type);
  } else if (op == Opcode::kFma || op == Opcode::kMad) {
    selection = ternary(handler_of<Op::kFma>(type), type, type, type, type);
  } else if (op == Opcode::kRcp) {
    selection = unary(handler_of<Op::kRcp>(type), type, type);
  } else if (op == Opcode::kSqrt) {
    selection = unary(handler_of<Op::kSqrt>(type), type, type);
  }
  selection.flags = flags_of(form);
  return selection;
}

template <class D, class S>
D round_directed(S value, u8 mode) {
  const RoundingRegion region(mode);
  if constexpr (std::is_integral_v<S>) {
    asm volatile("" : "+r"(value));
    return opaque(static_cast<D>(value));
  } else {
    return canonical(opaque(static_cast<D>(opaque(value))));
  }
}

template float round_directed<float, s32>(s32, u8);
template float round_directed<float, u32>(u32, u8);
template float round_directed<float, s64>(s64, u8);
template float round_directed<float, u64>(u64, u8);
template float round_directed<float, s16>(s16, u8);
template float round_directed<float, u16>(u16, u8);
template float round_directed<float, s8>(s8, u8);
template float round_directed<float, u8>(u8, u8);
template double round_directed<double, s32>(s32, u8);
template double round_directed<double, u32>(u32, u8);
template double round_directed<double, s64>(s64, u8);
template double round_directed<double, u64>(u64, u8);
template double round_directed<double, s16>(s16, u8);
template double round_directed<double, u16>(u16, u8);
template double round_directed<double, s8>(s8, u8);
template double round_directed<double, u8>(u8, u8);
template float round_directed<float, double>(double, u8);
template double round_directed<double, float>(float, u8);

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
