// cvt between integers, f32 and f64, and cvt with .f16 and .bf16 by way of f32.
#include <limits>

#include "emulator/execute/lanes/float.h"
#include "emulator/execute/lanes/half.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

namespace {

using enum ptx::ScalarType;

// A type of which a register holds the bits.
template <class T>
constexpr bool kIsReal = !std::is_integral_v<T>;

template <class D, class S>
constexpr auto kWrap = [](S a) { return static_cast<D>(a); };

template <class D, class S>
constexpr auto kClamp = [](S a) {
  constexpr D kLow = std::numeric_limits<D>::min(), kHigh = std::numeric_limits<D>::max();
  return std::cmp_less(a, kLow) ? kLow : std::cmp_greater(a, kHigh) ? kHigh : static_cast<D>(a);
};

template <Rounding R, class T>
[[gnu::always_inline]] inline T to_integral(T value) {
  if constexpr (R == Rounding::kZeroInteger) {
    return __builtin_trunc(value);
  } else if constexpr (R == Rounding::kDownInteger) {
    return __builtin_floor(value);
  } else if constexpr (R == Rounding::kUpInteger) {
    return __builtin_ceil(value);
  } else {
    return __builtin_rint(value);
  }
}

template <Rounding R>
[[gnu::always_inline]] inline float to_integral(float value) {
  if constexpr (R == Rounding::kZeroInteger) {
    return __builtin_truncf(value);
  } else if constexpr (R == Rounding::kDownInteger) {
    return __builtin_floorf(value);
  } else if constexpr (R == Rounding::kUpInteger) {
    return __builtin_ceilf(value);
  } else {
    return __builtin_rintf(value);
  }
}

// Out of range is clamped; NaN becomes 0.
template <class D, class S, Rounding R, bool Ftz>
constexpr auto kToInteger = [](S a) {
  const S value = to_integral<R>(Ftz ? flush(a) : a);
  constexpr S kLow = static_cast<S>(std::numeric_limits<D>::min());
  // 2^n, the first that is too large: the largest value itself may not be representable.
  constexpr S kBeyond = static_cast<S>(D{1} << (std::numeric_limits<D>::digits - 1)) * S{2};
  if (value != value) {
    return D{0};
  }
  if (value < kLow) {
    return std::numeric_limits<D>::min();
  }
  return value >= kBeyond ? std::numeric_limits<D>::max() : static_cast<D>(value);
};

template <class D, class S>
constexpr auto kToReal = [](S a) { return static_cast<D>(a); };
template <class D, class S>
constexpr auto kToRealSat = [](S a) { return clamp_to_unit(static_cast<D>(a)); };

template <class D, class S, bool Ftz, bool Sat>
constexpr auto kRealToReal = [](S a) {
  const D value = static_cast<D>(Ftz ? flush(a) : a);
  const D flushed = Ftz ? flush(value) : value;
  return Sat ? clamp_to_unit(flushed) : canonical(flushed);
};
template <class T, Rounding R, bool Ftz, bool Sat>
constexpr auto kRealToIntegral = [](T a) {
  const T value = to_integral<R>(Ftz ? flush(a) : a);
  return Sat ? clamp_to_unit(value) : canonical(value);
};

template <class D, class S>
Handler integer_to_integer(const Form& form) {
  return form.sat ? &map1<kClamp<D, S>, D, S> : &map1<kWrap<D, S>, D, S>;
}

template <class D, class S, bool Ftz>
Handler real_to_integer(const Form& form) {
  switch (form.rounding) {
    case Rounding::kNearestInteger:
    case Rounding::kNearest:
      return &map1<kToInteger<D, S, Rounding::kNearestInteger, Ftz>, D, S>;
    case Rounding::kDownInteger:
    case Rounding::kDown:
      return &map1<kToInteger<D, S, Rounding::kDownInteger, Ftz>, D, S>;
    case Rounding::kUpInteger:
    case Rounding::kUp:
      return &map1<kToInteger<D, S, Rounding::kUpInteger, Ftz>, D, S>;
    case Rounding::kZeroInteger:
    case Rounding::kZero:
    case Rounding::kNone:
      return &map1<kToInteger<D, S, Rounding::kZeroInteger, Ftz>, D, S>;
    case Rounding::kAway:
      return nullptr;
  }
  return nullptr;
}

// The conversion itself rounds, in the mode that round_directed (rounded.cpp) sets on the host.
template <class D, class S>
Step directed(Context& c, const Instruction& in, u32 mask) {
  const auto* a = source<Lane<S>>(c, in.a);
  auto* d = target<Lane<D>>(c, in.d);
  for (const int i : SetBits<int>(mask)) {
    d[i] = to_lane<D>(round_directed<D, S>(from_lane<S>(a[i]), in.flags));
  }
  return Step::kNext;
}

bool is_directed(Rounding rounding) {
  return rounding == Rounding::kZero || rounding == Rounding::kDown || rounding == Rounding::kUp;
}

template <class D, class S>
Handler integer_to_real(const Form& form) {
  if (is_directed(form.rounding)) {
    return form.sat ? nullptr : &directed<D, S>;
  }
  return form.sat ? &map1<kToRealSat<D, S>, D, S> : &map1<kToReal<D, S>, D, S>;
}

template <class T, bool Ftz, bool Sat>
Handler to_integral_handler(Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearestInteger:
      return &map1<kRealToIntegral<T, Rounding::kNearestInteger, Ftz, Sat>, T, T>;
    case Rounding::kDownInteger:
      return &map1<kRealToIntegral<T, Rounding::kDownInteger, Ftz, Sat>, T, T>;
    case Rounding::kUpInteger:
      return &map1<kRealToIntegral<T, Rounding::kUpInteger, Ftz, Sat>, T, T>;
    case Rounding::kZeroInteger:
      return &map1<kRealToIntegral<T, Rounding::kZeroInteger, Ftz, Sat>, T, T>;
    case Rounding::kNone:
    case Rounding::kNearest:
    case Rounding::kZero:
    case Rounding::kDown:
    case Rounding::kUp:
      return &map1<kRealToReal<T, T, Ftz, Sat>, T, T>;
    case Rounding::kAway:
      return nullptr;
  }
  return nullptr;
}

template <class D, class S, bool Ftz, bool Sat>
Handler real_to_real_finished(const Form& form) {
  if constexpr (std::is_same_v<D, S>) {
    return to_integral_handler<D, Ftz, Sat>(form.rounding);
  } else {
    return &map1<kRealToReal<D, S, Ftz, Sat>, D, S>;
  }
}

template <class D, class S>
Handler real_to_real(const Form& form) {
  if (is_directed(form.rounding) && !std::is_same_v<D, S>) {
    return form.sat || form.ftz ? nullptr : &directed<D, S>;
  }
  if (form.ftz) {
    return form.sat ? real_to_real_finished<D, S, true, true>(form)
                    : real_to_real_finished<D, S, true, false>(form);
  }
  return form.sat ? real_to_real_finished<D, S, false, true>(form)
                  : real_to_real_finished<D, S, false, false>(form);
}

template <class D, class S>
Handler conversion(const Form& form) {
  if constexpr (kIsReal<D> && kIsReal<S>) {
    return real_to_real<D, S>(form);
  } else if constexpr (kIsReal<D>) {
    return integer_to_real<D, S>(form);
  } else if constexpr (kIsReal<S>) {
    return form.ftz ? real_to_integer<D, S, true>(form) : real_to_integer<D, S, false>(form);
  } else {
    return integer_to_integer<D, S>(form);
  }
}

template <class D>
Handler from_source(const Form& form) {
  const auto visit = [&form]<class S>(TypeTag<S>) -> Handler { return conversion<D, S>(form); };
  const Handler integer = for_integer_or_byte(form.types[1], visit);
  return integer != nullptr ? integer : for_float(form.types[1], visit);
}

u8 directed_flags(Rounding rounding) {
  return rounding == Rounding::kZero ? u8{0} : rounding == Rounding::kDown ? u8{1} : u8{2};
}

}  // namespace

Selection select_conversion(const Form& form) {
  if (form.opcode != Opcode::kCvt || form.type_count < 2) {
    return {};
  }
  if (is_narrow(form)) {
    return select_narrow_conversion(form);
  }
  if (is_half(form.types[0]) || is_half(form.types[1])) {
    return select_half_conversion(form);
  }
  const auto visit = [&form]<class D>(TypeTag<D>) -> Handler { return from_source<D>(form); };
  Handler handler = for_integer_or_byte(form.types[0], visit);
  if (handler == nullptr) {
    handler = for_float(form.types[0], visit);
  }
  Selection selection = unary(handler, form.types[0], form.types[1]);
  selection.flags = directed_flags(form.rounding);
  return selection;
}

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
