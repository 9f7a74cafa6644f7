// Constant expressions: C's operators over 64-bit integers, signed unless a literal or cast says
// otherwise, and over floating-point literals.
#pragma once

#include <cstdint>

#include "ptx/parser/cursor.h"

namespace barracuda::ptx {

struct Constant {
  enum class Kind : std::uint8_t { kSigned, kUnsigned, kFloat32, kFloat64 };
  Kind kind = Kind::kSigned;
  std::uint64_t bits = 0;

  [[nodiscard]] bool is_integer() const { return kind == Kind::kSigned || kind == Kind::kUnsigned; }
};

// A whole expression at the cursor; on failure the cursor knows why.
bool parse_constant(Cursor& cursor, Constant& value);
// The same without additions and looser operators, for the terms of sym+4*2.
bool parse_constant_term(Cursor& cursor, Constant& value);

}  // namespace barracuda::ptx
