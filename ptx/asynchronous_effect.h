// What a cluster barrier, a proxy fence, an mbarrier operation, an asynchronous copy or a wait for
// one is to the detector, and which of its operands says what.
#pragma once

#include "ptx/opcode.h"

namespace barracuda::ptx {

// Completes the effect of an instruction of these classes whose modifiers are read; forms that are
// not understood become `not_covered`.
void set_asynchronous_effect(const Instruction& instruction, Effect& effect);

}  // namespace barracuda::ptx
