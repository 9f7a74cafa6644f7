// Which families the scalar types are of (ISA 5.2).
#pragma once

#include "ptx/mnemonic.h"

namespace barracuda::ptx {

constexpr bool is_signed(ScalarType type) {
  using enum ScalarType;
  return type == kS8 || type == kS16 || type == kS32 || type == kS64;
}

constexpr bool is_unsigned(ScalarType type) {
  using enum ScalarType;
  return type == kU8 || type == kU16 || type == kU32 || type == kU64;
}

// .b8 to .b64: bits of any type of their size.
constexpr bool is_untyped(ScalarType type) {
  using enum ScalarType;
  return type == kB8 || type == kB16 || type == kB32 || type == kB64;
}

}  // namespace barracuda::ptx
