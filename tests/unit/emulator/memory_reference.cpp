#include "tests/unit/emulator/memory_reference.h"

#include <bit>

namespace barracuda::emulator::test {
namespace {

Space space_of(const UsedForm& form) {
  return form.has("shared") || form.has("shared::cta") ? Space::kShared
         : form.has("global")                          ? Space::kGlobal
         : form.has("local")                           ? Space::kLocal
         : form.has("const")                           ? Space::kConstant
         : form.has("param")                           ? Space::kParameter
                                                       : Space::kGeneric;
}

std::optional<Scalar> element_of(const UsedForm& form) {
  const std::string& last = form.words.back();
  if (last == "f16" || last == "f16x2") {
    return Scalar{'h', 16};
  }
  if (last == "bf16" || last == "bf16x2") {
    return Scalar{'b', 16};
  }
  const auto scalars = scalars_of(form);
  // A vector's .v2 and .v4 are no types; neither is what follows the type.
  if (scalars.size() != 1 || scalars[0].bits > 64 ||
      last != std::string(1, scalars[0].kind) + std::to_string(scalars[0].bits)) {
    return std::nullopt;
  }
  return scalars[0];
}

float half_sum(char kind, u64 a, u64 b) {
  const auto value = [kind](u64 raw) {
    return kind == 'h' ? static_cast<float>(std::bit_cast<_Float16>(static_cast<u16>(raw)))
                       : f32((raw & 0xffff) << 16);
  };
  return value(a) + value(b);
}

u64 sum(const MemoryCase& atomic, u64 a, u64 b) {
  const Scalar type = atomic.element;
  if (type.bits == 16) {
    const float value = half_sum(type.kind, a, b);
    const u32 raw = std::bit_cast<u32>(value);
    return type.kind == 'h' ? std::bit_cast<u16>(static_cast<_Float16>(value))
                            : u64{(raw + 0x7fff + ((raw >> 16) & 1)) >> 16};
  }
  if (!type.is_float()) {
    return a + b;
  }
  return type.bits == 32 ? bits(f32(a) + f32(b)) : bits(f64(a) + f64(b));
}

s64 extended(Scalar type, u64 raw) {
  return type.bits == 64 ? static_cast<s64>(raw) : s64{static_cast<s32>(raw)};
}

bool is_less(Scalar type, u64 a, u64 b) {
  return type.kind == 's' ? extended(type, a) < extended(type, b) : a < b;
}

}  // namespace

std::optional<MemoryCase> memory_case(const UsedForm& form) {
  static const std::set<std::string> heads = {"ld", "st", "atom", "red"};
  const std::string& head = form.words[0];
  const auto element = element_of(form);
  if (!heads.contains(head) || !element || form.has("async")) {
    return std::nullopt;
  }
  MemoryCase found;
  found.text = form.text;
  found.space = space_of(form);
  found.element = *element;
  found.count = form.has("v2") ? 2 : form.has("v4") ? 4 : 1;
  found.is_packed = form.words.back().ends_with("x2");
  found.count *= found.is_packed ? 2 : 1;
  found.is_atomic = head == "atom" || head == "red";
  found.returns = head == "atom";
  found.operation =
      found.is_atomic
          ? form.first_of({"add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec"})
          : std::string_view(head);
  return found;
}

u64 atomic_result(const MemoryCase& atomic, u64 old, u64 b, u64 c) {
  const std::string& operation = atomic.operation;
  return operation == "add"    ? sum(atomic, old, b)
         : operation == "exch" ? b
         : operation == "cas"  ? (old == b ? c : old)
         : operation == "min"  ? (is_less(atomic.element, b, old) ? b : old)
         : operation == "max"  ? (is_less(atomic.element, old, b) ? b : old)
         : operation == "and"  ? (old & b)
         : operation == "or"   ? (old | b)
         : operation == "xor"  ? (old ^ b)
         : operation == "inc"  ? (old >= b ? 0 : old + 1)
                               : (old == 0 || old > b ? b : old - 1);
}

}  // namespace barracuda::emulator::test
