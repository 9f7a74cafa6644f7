#include "emulator/execute/form.h"

namespace barracuda::emulator {

namespace {

Rounding rounding_of(std::string_view modifier) {
  constexpr struct {
    std::string_view name;
    Rounding rounding;
  } kNames[] = {{.name = "rn", .rounding = Rounding::kNearest},
                {.name = "rz", .rounding = Rounding::kZero},
                {.name = "rm", .rounding = Rounding::kDown},
                {.name = "rp", .rounding = Rounding::kUp},
                {.name = "rni", .rounding = Rounding::kNearestInteger},
                {.name = "rzi", .rounding = Rounding::kZeroInteger},
                {.name = "rmi", .rounding = Rounding::kDownInteger},
                {.name = "rpi", .rounding = Rounding::kUpInteger},
                {.name = "rna", .rounding = Rounding::kAway}};

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
  } flags[] = {{.name = "ftz", .flag = form.ftz},       {.name = "sat", .flag = form.sat},
               {.name = "approx", .flag = form.approx}, {.name = "hi", .flag = form.hi},
               {.name = "lo", .flag = form.lo},         {.name = "wide", .flag = form.wide},
               {.name = "cc", .flag = form.cc}};

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
