// f16 and bf16: values are converted to f32 (f64 for fma), computed there and rounded once.
#pragma once

#include "emulator/execute/lanes/float.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

// The bits of a bf16.
struct Bfloat16 {
  u16 bits;
};

[[gnu::always_inline]] inline float to_float(Bfloat16 value) {
  return std::bit_cast<float>(static_cast<u32>(value.bits) << 16);
}

[[gnu::always_inline]] inline float to_float(_Float16 value) {
  return static_cast<float>(value);
}

template <class H>
[[gnu::always_inline]] inline H to_half(float value) {
  if constexpr (std::is_same_v<H, Bfloat16>) {
    if (value != value) {
      return Bfloat16{0x7fff};
    }
    const u32 bits = std::bit_cast<u32>(value);
    return Bfloat16{static_cast<u16>((bits + 0x7fffU + ((bits >> 16) & 1)) >> 16)};
  } else {
    return value != value ? std::bit_cast<_Float16>(u16{0x7fff}) : static_cast<_Float16>(value);
  }
}

// From a double that may not be representable in f32: rounded to odd first, so that the second
// rounding is the only one.
template <class H>
[[gnu::always_inline]] inline H to_half(double value) {
  auto narrow = static_cast<float>(value);
  if (narrow == narrow && static_cast<double>(narrow) != value) {
    u32 bits = std::bit_cast<u32>(narrow);
    const double magnitude = __builtin_fabs(value);
    if (__builtin_fabs(static_cast<double>(narrow)) > magnitude) {
      --bits;  // towards zero
    }
    narrow = std::bit_cast<float>(bits | 1);
  }
  return to_half<H>(narrow);
}

inline bool is_half(ptx::ScalarType type) {
  using enum ptx::ScalarType;
  return type == kF16 || type == kBf16 || type == kF16x2 || type == kBf16x2;
}

// D from S, rounded to zero (0), down (1) or up (2); rounded.cpp.
template <class D, class S>
D round_directed(S value, u8 mode);

Selection select_half_conversion(const Form& form);

// To tf32, to and from the 8-bit types: narrow.cpp.
bool is_narrow(const Form& form);
Selection select_narrow_conversion(const Form& form);

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
