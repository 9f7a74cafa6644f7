// The types of elements of matrix products.
#pragma once

#include <cstdint>

namespace barracuda::emulator {

enum class MatrixElement : std::uint8_t {
  kF16,
  kBf16,
  kTf32,
  kF32,
  kF64,
  kE4m3,
  kE5m2,
  kE3m2,        // in the low six bits of a byte
  kE2m3,        // the same
  kE2m1,        // in bits 2 to 5 of a byte
  kPackedE2m1,  // two in a byte
  kS8,
  kU8,
  kS4,
  kU4,
  kB1,
  kS32,
};

std::uint32_t element_bits(MatrixElement element);

}  // namespace barracuda::emulator
