// The floating-point types of eight bits and of less: e4m3 has no infinities and one NaN, e5m2 is
// the upper half of an f16.
#pragma once

#include <bit>
#include <cstdint>

namespace barracuda::emulator {

inline float from_e4m3(std::uint8_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x80U} << 24;
  const std::uint32_t exponent = (bits >> 3) & 15, fraction = bits & 7;
  if (exponent == 15 && fraction == 7) {
    return std::bit_cast<float>(0x7fffffffU);
  }
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) / 512.0F;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 120) << 23 | fraction << 20);
}

inline float from_e5m2(std::uint8_t bits) {
  return static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits << 8)));
}

// Types of six and of four bits, which have neither infinities nor NaNs.
inline float from_narrow(std::uint32_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto exponent = static_cast<int>(bits >> fraction_bits & ((1U << exponent_bits) - 1));
  const auto fraction = static_cast<int>(bits & ((1U << fraction_bits) - 1));
  const int whole = exponent == 0 ? fraction : fraction | 1 << fraction_bits;
  const float magnitude = __builtin_ldexpf(static_cast<float>(whole),
                                           (exponent == 0 ? 1 : exponent) - bias - fraction_bits);
  return (bits >> (exponent_bits + fraction_bits) & 1) != 0 ? -magnitude : magnitude;
}

inline float from_e3m2(std::uint32_t bits) {
  return from_narrow(bits, 3, 2);
}

inline float from_e2m3(std::uint32_t bits) {
  return from_narrow(bits, 2, 3);
}

inline float from_e2m1(std::uint32_t bits) {
  return from_narrow(bits, 2, 1);
}

// To nearest even; what is too large becomes the largest finite value, a NaN stays one.
inline std::uint8_t to_fp8(float value, int fraction_bits, int bias, std::uint8_t largest) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint8_t>((bits >> 24) & 0x80);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) {
    return 0x7f;
  }
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  // The distance between neighbours is 2^step.
  const int smallest = 1 - bias;
  const int step = (exponent < smallest ? smallest : exponent) - fraction_bits;
  const float scaled = std::bit_cast<float>(magnitude) * __builtin_ldexpf(1.0F, -step);
  if (!(scaled < 1024.0F)) {
    return static_cast<std::uint8_t>(sign | largest);
  }
  const auto units = static_cast<std::uint32_t>(__builtin_rintf(scaled));
  const int base = exponent < smallest ? 0 : exponent - smallest;
  // A carry out of the fraction raises the exponent as it should.
  const std::uint32_t code = (static_cast<std::uint32_t>(base) << fraction_bits) + units;
  return static_cast<std::uint8_t>(sign | (code > largest ? largest : code));
}

inline std::uint8_t to_e4m3(float value) {
  return to_fp8(value, 3, 7, 0x7e);
}

inline std::uint8_t to_e5m2(float value) {
  return to_fp8(value, 2, 15, 0x7b);
}

}  // namespace barracuda::emulator
