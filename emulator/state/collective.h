// What the operands of a warp collective are, so that lanes that wait for each other at different
// instructions can exchange values. The member mask is the slot in Instruction::immediate.
#pragma once

#include "emulator/state/instruction.h"

namespace barracuda::emulator {

enum class OperandClass : std::uint8_t { kNone, kWord, kDoubleWord, kPredicate };

// Instruction::extra of a collective. d and e are written, a, b and c read.
struct CollectiveShape {
  OperandClass d = OperandClass::kNone, e = OperandClass::kNone;
  OperandClass a = OperandClass::kNone, b = OperandClass::kNone, c = OperandClass::kNone;
};

}  // namespace barracuda::emulator
