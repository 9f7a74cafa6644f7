// Atomic operations on vectors, halves and 128 bits.
#pragma once

#include "emulator/execute/form.h"

namespace barracuda::emulator {

// Instruction::extra of a vector's; `count` elements. Results: kNoSlot where they are not used.
struct WideAtomicSlots {
  Slot operands[8] = {};
  Slot results[8] = {};
};

// add, min and max of f32 vectors, of f16 and bf16 and their pairs, alone or in vectors.
Handler select_vector_atomic(const Form& form);
// cas and exch of .b128: b, c, d are 128-bit registers.
Handler select_quad_atomic(const Form& form);

}  // namespace barracuda::emulator
