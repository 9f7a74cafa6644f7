#include "ptx/analysis/literal_arithmetic.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

#include "ptx/type_family.h"

namespace barracuda::ptx {
namespace {

using Bits = std::uint64_t;
using Inputs = std::span<const Bits>;
using Wide = unsigned __int128;

constexpr std::uint32_t kWord = 8;  // bytes of the widest register

bool is_integer(ScalarType type) {
  return is_signed(type) || is_unsigned(type) || is_untyped(type) || type == ScalarType::kPred;
}

// The types among the modifiers, in their order: of a conversion the destination's comes first.
struct Types {
  ScalarType first = ScalarType::kNone, last = ScalarType::kNone;
};

Types types_of(const Instruction& instruction) {
  Types types;
  for (const Modifier modifier : instruction.modifiers) {
    const ScalarType type = type_of(modifier);
    if (type == ScalarType::kNone) {
      continue;
    }
    if (types.first == ScalarType::kNone) {
      types.first = type;
    }
    types.last = type;
  }
  return types;
}

std::uint32_t bytes_of(ScalarType type) {
  return type == ScalarType::kPred ? 1 : size_of(type);
}

Bits extended(Bits bits, ScalarType type) {
  return is_signed(type) ? sign_extended(bits, bytes_of(type))
                         : zero_extended(bits, bytes_of(type));
}

std::int64_t as_signed(Bits bits) {
  return static_cast<std::int64_t>(bits);
}

// The upper half of a product of two values of `bytes`.
Bits high_product(Bits a, Bits b, ScalarType type) {
  const std::uint32_t bits = bytes_of(type) * 8;
  if (is_signed(type)) {
    const auto product = static_cast<__int128>(as_signed(a)) * as_signed(b);
    return static_cast<Bits>(product >> bits);
  }
  return static_cast<Bits>((static_cast<Wide>(a) * b) >> bits);
}

std::optional<Bits> product(const Instruction& instruction, ScalarType type, Bits a, Bits b) {
  if (instruction.has(Modifier::kHi)) {
    return high_product(a, b, type);
  }
  if (instruction.has(Modifier::kLo) || instruction.has(Modifier::kWide)) {
    return a * b;
  }
  return std::nullopt;
}

// A quotient by zero is whatever the hardware gives: all ones; a remainder is the dividend.
Bits quotient(Bits a, Bits b, ScalarType type) {
  if (b == 0) {
    return ~Bits{0};
  }
  if (!is_signed(type)) {
    return a / b;
  }
  return as_signed(b) == -1 ? Bits{0} - a : static_cast<Bits>(as_signed(a) / as_signed(b));
}

Bits rest(Bits a, Bits b, ScalarType type) {
  if (b == 0) {
    return a;
  }
  if (!is_signed(type)) {
    return a % b;
  }
  return as_signed(b) == -1 ? 0 : static_cast<Bits>(as_signed(a) % as_signed(b));
}

bool is_less(Bits a, Bits b, ScalarType type) {
  return is_signed(type) ? as_signed(a) < as_signed(b) : a < b;
}

Bits shifted_right(Bits a, Bits by, ScalarType type) {
  const std::uint32_t bits = bytes_of(type) * 8;
  if (by >= bits) {
    return is_signed(type) && as_signed(a) < 0 ? ~Bits{0} : 0;
  }
  return is_signed(type) ? static_cast<Bits>(as_signed(a) >> by) : a >> by;
}

Bits low_mask(Bits bits) {
  return bits >= 64 ? ~Bits{0} : (Bits{1} << bits) - 1;
}

// `field`: how many bits from `position` on.
Bits field_of(Bits a, Bits position, Bits field, ScalarType type) {
  const Bits bits = Bits{bytes_of(type)} * 8;
  position &= 0xff;
  field &= 0xff;
  if (field == 0) {
    return 0;
  }
  const Bits top = std::min(position + field - 1, bits - 1);
  const bool is_negative = is_signed(type) && ((a >> top) & 1) != 0;
  const Bits kept = position >= bits ? 0 : (a >> position) & low_mask(top + 1 - position);
  const Bits width = position >= bits ? 0 : top + 1 - position;
  return is_negative ? kept | ~low_mask(width) : kept;
}

Bits with_field(Bits inserted, Bits into, Bits position, Bits field, ScalarType type) {
  const Bits bits = Bits{bytes_of(type)} * 8;
  position &= 0xff;
  field &= 0xff;
  if (position >= bits) {
    return into;
  }
  const Bits mask = low_mask(std::min(field, bits - position)) << position;
  return (into & ~mask) | ((inserted << position) & mask);
}

Bits permuted(Bits a, Bits b, Bits selector) {
  const Bits both = (zero_extended(b, 4) << 32) | zero_extended(a, 4);
  Bits made = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const Bits choice = (selector >> (4 * i)) & 0xf;
    Bits byte = (both >> (8 * (choice & 7))) & 0xff;
    if ((choice & 8) != 0) {
      byte = (byte & 0x80) != 0 ? 0xff : 0;
    }
    made |= byte << (8 * i);
  }
  return made;
}

Bits looked_up(Bits a, Bits b, Bits c, Bits table) {
  Bits made = 0;
  for (std::uint32_t i = 0; i < 32; ++i) {
    const Bits row = (((a >> i) & 1) << 2) | (((b >> i) & 1) << 1) | ((c >> i) & 1);
    made |= ((table >> row) & 1) << i;
  }
  return made;
}

Bits funnel(const Instruction& instruction, Bits low, Bits high, Bits by) {
  const Bits both = (zero_extended(high, 4) << 32) | zero_extended(low, 4);
  const Bits count = instruction.has(Modifier::kWrap) ? by & 31 : std::min<Bits>(by, 32);
  return instruction.has(Modifier::kL) ? (both << count) >> 32 : both >> count;
}

std::optional<Bits> of_one(const Instruction& instruction, ScalarType type, Bits a) {
  const Opcode opcode = instruction.opcode;
  const std::uint32_t bytes = bytes_of(type);
  if (opcode == Opcode::kNot) {
    return type == ScalarType::kPred ? a ^ 1 : ~a;
  }
  if (opcode == Opcode::kNeg) {
    return Bits{0} - a;
  }
  if (opcode == Opcode::kAbs) {
    return as_signed(a) < 0 ? Bits{0} - a : a;
  }
  if (opcode == Opcode::kCnot) {
    return a == 0 ? 1 : 0;
  }
  if (opcode == Opcode::kPopc) {
    return static_cast<Bits>(std::popcount(a));
  }
  if (opcode == Opcode::kClz) {
    return static_cast<Bits>(std::countl_zero(a)) - Bits{kWord - bytes} * 8;
  }
  if (opcode == Opcode::kBrev) {
    Bits made = 0;
    for (std::uint32_t i = 0; i < bytes * 8; ++i) {
      made |= ((a >> i) & 1) << (bytes * 8 - 1 - i);
    }
    return made;
  }
  return std::nullopt;
}

std::optional<Bits> of_two(const Instruction& instruction, ScalarType type, Bits a, Bits b) {
  const Opcode opcode = instruction.opcode;
  if (opcode == Opcode::kAdd || opcode == Opcode::kSub) {
    return opcode == Opcode::kAdd ? a + b : a - b;
  }
  if (opcode == Opcode::kMul) {
    return product(instruction, type, a, b);
  }
  if (opcode == Opcode::kDiv || opcode == Opcode::kRem) {
    return opcode == Opcode::kDiv ? quotient(a, b, type) : rest(a, b, type);
  }
  if (opcode == Opcode::kMin || opcode == Opcode::kMax) {
    return is_less(a, b, type) == (opcode == Opcode::kMin) ? a : b;
  }
  if (opcode == Opcode::kAnd) {
    return a & b;
  }
  if (opcode == Opcode::kOr) {
    return a | b;
  }
  if (opcode == Opcode::kXor) {
    return a ^ b;
  }
  if (opcode == Opcode::kShl) {
    return zero_extended(b, 4) >= Bits{bytes_of(type)} * 8 ? 0 : a << zero_extended(b, 4);
  }
  if (opcode == Opcode::kShr) {
    return shifted_right(a, zero_extended(b, 4), type);
  }
  return std::nullopt;
}

std::optional<Bits> of_many(const Instruction& instruction, ScalarType type, Inputs inputs) {
  const Opcode opcode = instruction.opcode;
  if (opcode == Opcode::kMad) {
    const auto made = product(instruction, type, inputs[0], inputs[1]);
    return made ? std::optional(*made + inputs[2]) : std::nullopt;
  }
  if (opcode == Opcode::kSelp) {
    return (inputs[2] & 1) != 0 ? inputs[0] : inputs[1];
  }
  if (opcode == Opcode::kBfe) {
    return field_of(inputs[0], inputs[1], inputs[2], type);
  }
  if (opcode == Opcode::kPrmt && instruction.modifiers.size() == 1) {
    return permuted(inputs[0], inputs[1], inputs[2]);
  }
  if (opcode == Opcode::kShf) {
    return funnel(instruction, inputs[0], inputs[1], inputs[2]);
  }
  if (inputs.size() < 4) {
    return std::nullopt;
  }
  if (opcode == Opcode::kBfi) {
    return with_field(inputs[0], inputs[1], inputs[2], inputs[3], type);
  }
  if (opcode == Opcode::kLop3 && !instruction.has(Modifier::kAnd) &&
      !instruction.has(Modifier::kOr)) {
    return looked_up(inputs[0], inputs[1], inputs[2], inputs[3]);
  }
  return std::nullopt;
}

bool changes_result(const Instruction& instruction) {
  constexpr std::array kUnknown = {Modifier::kSat, Modifier::kCc, Modifier::kRelu,
                                   Modifier::kSatfinite};
  return std::ranges::any_of(kUnknown, [&](Modifier each) { return instruction.has(each); });
}

std::optional<Bits> computed(const Instruction& instruction, const Types& types, Inputs inputs) {
  if (instruction.opcode == Opcode::kMov) {
    return inputs[0];
  }
  if (instruction.opcode == Opcode::kCvt) {
    return is_integer(types.first) && is_integer(types.last)
               ? std::optional(extended(extended(inputs[0], types.last), types.first))
               : std::nullopt;
  }
  const bool only_moves = instruction.opcode == Opcode::kSelp;
  if (!is_integer(types.last) && !only_moves) {
    return std::nullopt;
  }
  std::array<Bits, 4> given{};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    // The third operand of a wide product is as wide as the result.
    const bool is_sum = i == 2 && instruction.has(Modifier::kWide);
    given.at(i) = is_sum ? inputs[i] : extended(inputs[i], types.last);
  }
  const Inputs ready(given.data(), inputs.size());
  return ready.size() == 1   ? of_one(instruction, types.last, ready[0])
         : ready.size() == 2 ? of_two(instruction, types.last, ready[0], ready[1])
                             : of_many(instruction, types.last, ready);
}

std::optional<bool> compared(const Instruction& instruction, ScalarType type, Bits a, Bits b) {
  const bool less = is_less(a, b, type);
  const std::pair<Modifier, bool> rows[] = {
      {Modifier::kEq, a == b},         {Modifier::kNe, a != b},          {Modifier::kLt, less},
      {Modifier::kLe, less || a == b}, {Modifier::kGt, !less && a != b}, {Modifier::kGe, !less},
      {Modifier::kLo, a < b},          {Modifier::kLs, a <= b},          {Modifier::kHi, a > b},
      {Modifier::kHs, a >= b}};
  const auto* const found =
      std::ranges::find_if(rows, [&](const auto& row) { return instruction.has(row.first); });
  return found == std::end(rows) ? std::nullopt : std::optional(found->second);
}

// By an atomic other than a compare and swap.
std::optional<Bits> updated(const Instruction& instruction, ScalarType type, Bits was, Bits given) {
  const bool less = is_less(was, given, type);
  const std::pair<Modifier, Bits> rows[] = {
      {Modifier::kExch, given},
      {Modifier::kAdd, was + given},
      {Modifier::kAnd, was & given},
      {Modifier::kOr, was | given},
      {Modifier::kXor, was ^ given},
      {Modifier::kMin, less ? was : given},
      {Modifier::kMax, less ? given : was},
      {Modifier::kInc, was >= given ? 0 : was + 1},
      {Modifier::kDec, was == 0 || was > given ? given : was - 1}};
  const auto* const found =
      std::ranges::find_if(rows, [&](const auto& row) { return instruction.has(row.first); });
  return found == std::end(rows) ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::uint64_t zero_extended(std::uint64_t bits, std::uint32_t bytes) {
  return bytes >= kWord ? bits : bits & ((Bits{1} << (bytes * 8)) - 1);
}

std::uint64_t sign_extended(std::uint64_t bits, std::uint32_t bytes) {
  if (bytes >= kWord || bytes == 0) {
    return bits;
  }
  const Bits sign = Bits{1} << (bytes * 8 - 1);
  return (zero_extended(bits, bytes) ^ sign) - sign;
}

std::optional<std::uint64_t> literal_result(const Instruction& instruction,
                                            std::span<const std::uint64_t> inputs) {
  const Types types = types_of(instruction);
  if (inputs.empty() || inputs.size() > 4 || types.last == ScalarType::kNone ||
      changes_result(instruction)) {
    return std::nullopt;
  }
  auto result = computed(instruction, types, inputs);
  if (!result) {
    return std::nullopt;
  }
  const bool is_count = instruction.opcode == Opcode::kPopc || instruction.opcode == Opcode::kClz;
  const std::uint32_t bytes = is_count                           ? 4
                              : instruction.has(Modifier::kWide) ? 2 * bytes_of(types.last)
                                                                 : bytes_of(types.first);
  // A register may be wider than the type: a signed conversion fills it with the sign.
  if (instruction.opcode == Opcode::kCvt && is_signed(types.first)) {
    return result;
  }
  return zero_extended(*result, bytes);
}

std::optional<LiteralComparison> literal_comparison(const Instruction& instruction,
                                                    std::span<const std::uint64_t> inputs) {
  const ScalarType type = types_of(instruction).last;
  if (inputs.size() < 2 || !is_integer(type)) {
    return std::nullopt;
  }
  const auto held =
      compared(instruction, type, extended(inputs[0], type), extended(inputs[1], type));
  if (!held) {
    return std::nullopt;
  }
  if (inputs.size() == 2) {
    return LiteralComparison{.first = *held, .second = !*held};
  }
  const bool other = (inputs[2] & 1) != 0;
  const auto combined = [&](bool one) -> std::optional<bool> {
    return instruction.has(Modifier::kAnd)   ? std::optional(one && other)
           : instruction.has(Modifier::kOr)  ? std::optional(one || other)
           : instruction.has(Modifier::kXor) ? std::optional(one != other)
                                             : std::nullopt;
  };
  const auto first = combined(*held), second = combined(!*held);
  return first && second ? std::optional(LiteralComparison{.first = *first, .second = *second})
                         : std::nullopt;
}

std::optional<std::uint64_t> literal_update(const Instruction& instruction, std::uint64_t old,
                                            std::span<const std::uint64_t> inputs) {
  const ScalarType type = types_of(instruction).last;
  const bool only_moves = instruction.has(Modifier::kExch) || instruction.has(Modifier::kCas);
  if (inputs.empty() || (!is_integer(type) && !only_moves)) {
    return std::nullopt;
  }
  const std::uint32_t bytes = bytes_of(type);
  const Bits was = extended(old, type);
  const Bits given = extended(inputs[0], type);
  if (instruction.has(Modifier::kCas)) {
    return zero_extended(inputs.size() > 1 && was == given ? inputs[1] : old, bytes);
  }
  const auto made = updated(instruction, type, was, given);
  return made ? std::optional(zero_extended(*made, bytes)) : std::nullopt;
}

}  // namespace barracuda::ptx
