// What floating-point families share: flush to zero, saturation, canonical NaNs.
#pragma once

#include <bit>

#include "emulator/execute/lanes/lanes.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

// Subnormal numbers become zeros of their sign.
[[gnu::always_inline]] inline float flush(float value) {
  const u32 bits = std::bit_cast<u32>(value);
  return (bits & 0x7f800000U) == 0 ? std::bit_cast<float>(bits & 0x80000000U) : value;
}

[[gnu::always_inline]] inline double flush(double value) {
  return value;
}

// A GPU's f32 results have one NaN.
[[gnu::always_inline]] inline float canonical(float value) {
  return value != value ? std::bit_cast<float>(0x7fffffffU) : value;
}

[[gnu::always_inline]] inline double canonical(double value) {
  return value;
}

// To [0, 1]; NaN becomes +0.
template <class T>
[[gnu::always_inline]] inline T clamp_to_unit(T value) {
  return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
}

template <auto Op, bool Ftz, bool Sat>
struct Finished {
  template <class T>
  [[gnu::always_inline]] static T finish(T value) {
    if constexpr (Ftz) {
      value = flush(value);
    }
    if constexpr (Sat) {
      return clamp_to_unit(value);
    }
    return canonical(value);
  }

  template <class T>
  [[gnu::always_inline]] static T start(T value) {
    if constexpr (Ftz) {
      return flush(value);
    }
    return value;
  }
};

// Op with .ftz on its operands and result, and .sat.
template <auto Op, bool Ftz, bool Sat>
constexpr auto kFinished1 = []<class T>(T a) {
  using F = Finished<Op, Ftz, Sat>;
  return F::finish(Op(F::start(a)));
};
template <auto Op, bool Ftz, bool Sat>
constexpr auto kFinished2 = []<class T>(T a, T b) {
  using F = Finished<Op, Ftz, Sat>;
  return F::finish(Op(F::start(a), F::start(b)));
};
template <auto Op, bool Ftz, bool Sat>
constexpr auto kFinished3 = []<class T>(T a, T b, T c) {
  using F = Finished<Op, Ftz, Sat>;
  return F::finish(Op(F::start(a), F::start(b), F::start(c)));
};

template <auto Op, bool Ftz, bool Sat>
Handler finished1(ptx::ScalarType type) {
  return for_float(
      type, []<class T>(TypeTag<T>) -> Handler { return &map1<kFinished1<Op, Ftz, Sat>, T, T>; });
}

template <auto Op, bool Ftz, bool Sat>
Handler finished2(ptx::ScalarType type) {
  return for_float(type, []<class T>(TypeTag<T>) -> Handler {
    return &map2<kFinished2<Op, Ftz, Sat>, T, T, T>;
  });
}

template <auto Op, bool Ftz, bool Sat>
Handler finished3(ptx::ScalarType type) {
  return for_float(type, []<class T>(TypeTag<T>) -> Handler {
    return &map3<kFinished3<Op, Ftz, Sat>, T, T, T, T>;
  });
}

template <auto Op>
Selection float_unary(const Form& form) {
  const ptx::ScalarType type = form.type();
  const Handler handler =
      form.ftz ? finished1<Op, true, false>(type) : finished1<Op, false, false>(type);
  return unary(form.sat ? nullptr : handler, type, type);
}

template <auto Op>
Selection float_binary(const Form& form) {
  const ptx::ScalarType type = form.type();
  const Handler plain =
      form.sat ? finished2<Op, false, true>(type) : finished2<Op, false, false>(type);
  const Handler flushed =
      form.sat ? finished2<Op, true, true>(type) : finished2<Op, true, false>(type);
  return binary(form.ftz ? flushed : plain, type, type, type);
}

template <auto Op>
Selection float_ternary(const Form& form) {
  const ptx::ScalarType type = form.type();
  const Handler plain =
      form.sat ? finished3<Op, false, true>(type) : finished3<Op, false, false>(type);
  const Handler flushed =
      form.sat ? finished3<Op, true, true>(type) : finished3<Op, true, false>(type);
  return ternary(form.ftz ? flushed : plain, type, type, type, type);
}

// add, sub, mul, fma, div, rcp, sqrt with .rz, .rm, .rp (rounded.cpp).
Selection select_rounded(const Form& form);

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
