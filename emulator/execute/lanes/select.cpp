// From a form to its family.
#include "emulator/execute/lanes/half.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

namespace {

using enum ptx::ScalarType;

bool is_bitwise(std::string_view op) {
  constexpr std::string_view kNames[] = {"and", "or",   "xor",  "not",  "cnot",  "shl",
                                         "shr", "popc", "clz",  "brev", "bfind", "bfe",
                                         "bfi", "bmsk", "prmt", "shf",  "lop3",  "fns"};
  for (const std::string_view name : kNames) {
    if (name == op) {
      return true;
    }
  }
  return false;
}

Selection select(const Form& form) {
  const std::string_view op = form.opcode;
  const ptx::ScalarType type = form.type();
  if (is_bitwise(op)) {
    return select_bits(form);
  }
  if (op == "mov") {
    return select_move(form);
  }
  if (op == "cvt") {
    return select_conversion(form);
  }
  if (op == "setp" || op == "set" || op == "selp" || op == "slct") {
    const bool half = (op == "setp" && is_half(type)) || (op == "set" && is_half(form.types[1]));
    return half ? select_half(form) : select_comparison(form);
  }
  if (is_half(type)) {
    return select_half(form);
  }
  if (form.cc || op == "addc" || op == "subc" || op == "madc") {
    return select_carry(form);
  }
  if (op == "ex2" || op == "lg2" || op == "sin" || op == "cos" || op == "tanh") {
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
