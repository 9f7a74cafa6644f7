// An instruction whose warp is watched: executes it, and notes what it did to memory in the warp's
// PollWatch.
#pragma once

#include "emulator/state/context.h"

namespace barracuda::emulator {

Step execute_observed(Context& context, const Instruction& instruction, std::uint32_t mask);

}  // namespace barracuda::emulator
