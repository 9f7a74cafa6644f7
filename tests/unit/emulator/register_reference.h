// What an instruction that works on registers alone must compute, derived from its words and from
// PTX's definitions on the host's wide integers and IEEE arithmetic.
#pragma once

#include <optional>

#include "tests/unit/emulator/forms.h"
#include "tests/unit/emulator/used_form.h"

namespace barracuda::emulator::test {

enum class OperandKind { kIntegers, kSingles, kDoubles };

struct RegisterCase {
  FormCase form;
  OperandKind operands = OperandKind::kIntegers;
};

// Nothing for forms of another kind, which have tests written out.
std::optional<RegisterCase> register_case(const UsedForm& form);

}  // namespace barracuda::emulator::test
