#include "emulator/execute/form.h"

namespace barracuda::emulator {

namespace {

Rounding rounding_of(Modifier modifier) {
  static constexpr struct {
    Modifier name;
    Rounding rounding;
  } kNames[] = {{.name = Modifier::kRn, .rounding = Rounding::kNearest},
                {.name = Modifier::kRz, .rounding = Rounding::kZero},
                {.name = Modifier::kRm, .rounding = Rounding::kDown},
                {.name = Modifier::kRp, .rounding = Rounding::kUp},
                {.name = Modifier::kRni, .rounding = Rounding::kNearestInteger},
                {.name = Modifier::kRzi, .rounding = Rounding::kZeroInteger},
                {.name = Modifier::kRmi, .rounding = Rounding::kDownInteger},
                {.name = Modifier::kRpi, .rounding = Rounding::kUpInteger},
                {.name = Modifier::kRna, .rounding = Rounding::kAway}};

  for (const auto& entry : kNames) {
    if (entry.name == modifier) {
      return entry.rounding;
    }
  }
  return Rounding::kNone;
}

}  // namespace

Form read_form(const ptx::Instruction& instruction) {
  Form form;
  form.instruction = &instruction;
  form.opcode = instruction.opcode;
  form.ftz = form.has(Modifier::kFtz);
  form.sat = form.has(Modifier::kSat);
  form.approx = form.has(Modifier::kApprox);
  form.hi = form.has(Modifier::kHi);
  form.lo = form.has(Modifier::kLo);
  form.wide = form.has(Modifier::kWide);
  form.cc = form.has(Modifier::kCc);
  for (const Modifier modifier : instruction.modifiers) {
    if (const Rounding rounding = rounding_of(modifier); rounding != Rounding::kNone) {
      form.rounding = rounding;
    }
    const ptx::ScalarType type = ptx::type_of(modifier);
    if (type != ptx::ScalarType::kNone && form.type_count < 4) {
      form.types[static_cast<std::size_t>(form.type_count++)] = type;
    }
  }
  return form;
}

}  // namespace barracuda::emulator
