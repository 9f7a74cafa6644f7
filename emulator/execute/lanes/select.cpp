// From a form to its family.
#include "emulator/execute/lanes/half.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

namespace {

using enum ptx::ScalarType;

bool is_bitwise(Opcode op) {
  using enum Opcode;
  constexpr Opcode kBitwise[] = {kAnd,  kOr,    kXor, kNot, kCnot, kShl,  kShr, kPopc, kClz,
                                 kBrev, kBfind, kBfe, kBfi, kBmsk, kPrmt, kShf, kLop3, kFns};
  for (const Opcode each : kBitwise) {
    if (each == op) {
      return true;
    }
  }
  return false;
}

Selection select(const Form& form) {
  const Opcode op = form.opcode;
  const ptx::ScalarType type = form.type();
  if (is_bitwise(op)) {
    return select_bits(form);
  }
  if (op == Opcode::kMov) {
    return select_move(form);
  }
  if (op == Opcode::kCvt) {
    return select_conversion(form);
  }
  if (op == Opcode::kSetp || op == Opcode::kSet || op == Opcode::kSelp || op == Opcode::kSlct) {
    const bool half =
        (op == Opcode::kSetp && is_half(type)) || (op == Opcode::kSet && is_half(form.types[1]));
    return half ? select_half(form) : select_comparison(form);
  }
  if (is_half(type)) {
    return select_half(form);
  }
  if (form.cc || op == Opcode::kAddc || op == Opcode::kSubc || op == Opcode::kMadc) {
    return select_carry(form);
  }
  if (op == Opcode::kEx2 || op == Opcode::kLg2 || op == Opcode::kSin || op == Opcode::kCos ||
      op == Opcode::kTanh) {
    return select_function(form);
  }
  return type == kF32 || type == kF64 ? select_float(form) : select_integer(form);
}

}  // namespace

const LaneHandlers& handlers() {
  static constexpr LaneHandlers kHandlers{&select, &select_load, &select_store};
  return kHandlers;
}

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
