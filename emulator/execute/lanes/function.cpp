// Approximated functions: the host's, whose error is below what PTX allows.

#include "emulator/execute/lanes/float.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

namespace {

constexpr auto kExp2 = [](float a) { return __builtin_exp2f(a); };
constexpr auto kLog2 = [](float a) { return __builtin_log2f(a); };
constexpr auto kSin = [](float a) { return __builtin_sinf(a); };
constexpr auto kCos = [](float a) { return __builtin_cosf(a); };
constexpr auto kTanh = [](float a) { return __builtin_tanhf(a); };

template <auto Op>
Selection float_only(const Form& form) {
  const ptx::ScalarType type = form.type();
  const Handler handler = form.ftz ? &map1<kFinished1<Op, true, false>, float, float>
                                   : &map1<kFinished1<Op, false, false>, float, float>;
  return unary(type == ptx::ScalarType::kF32 ? handler : nullptr, type, type);
}

}  // namespace

Selection select_function(const Form& form) {
  const Opcode op = form.opcode;
  if (op == Opcode::kEx2) {
    return float_only<kExp2>(form);
  }
  if (op == Opcode::kLg2) {
    return float_only<kLog2>(form);
  }
  if (op == Opcode::kSin) {
    return float_only<kSin>(form);
  }
  if (op == Opcode::kCos) {
    return float_only<kCos>(form);
  }
  return op == Opcode::kTanh ? float_only<kTanh>(form) : Selection{};
}

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
