#include "emulator/execute/form.h"

namespace barracuda::emulator {

namespace {

Rounding rounding_of(std::string_view modifier) {
  constexpr struct {
    std::string_view name;
    Rounding rounding;
  } kNames[] = {{"rn", Rounding::kNearest},
                {"rz", Rounding::kZero},
                {"rm", Rounding::kDown},
                {"rp", Rounding::kUp},
                {"rni", Rounding::kNearestInteger},
                {"rzi", Rounding::kZeroInteger},
                {"rmi", Rounding::kDownInteger},
                {"rpi", Rounding::kUpInteger},
                {"rna", Rounding::kAway}};

  for (const auto& entry : kNames) {
    if (entry.name == modifier) {
      return entry.rounding;
    }
  }
  return Rounding::kNone;
}

bool read_flag(Form& form, std::string_view modifier) {
  const struct {
    std::string_view name;
    bool& flag;
  } flags[] = {{"ftz", form.ftz}, {"sat", form.sat},   {"approx", form.approx}, {"hi", form.hi},
               {"lo", form.lo},   {"wide", form.wide}, {"cc", form.cc}};

  for (const auto& entry : flags) {
    if (entry.name == modifier) {
      entry.flag = true;
      return true;
    }
  }
  return false;
}

}  // namespace

Form read_form(const ptx::Instruction& instruction) {
  Form form;
  form.instruction = &instruction;
  form.opcode = instruction.opcode;
  for (const std::string_view modifier : instruction.modifiers) {
    if (read_flag(form, modifier)) {
      continue;
    }
    if (const Rounding rounding = rounding_of(modifier); rounding != Rounding::kNone) {
      form.rounding = rounding;
      continue;
    }
    const ptx::ScalarType type = ptx::parse_scalar_type(modifier);
    if (type != ptx::ScalarType::kNone && form.type_count < 4) {
      form.types[static_cast<std::size_t>(form.type_count++)] = type;
    }
  }
  return form;
}

}  // namespace barracuda::emulator
