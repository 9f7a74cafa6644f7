// Loads and stores of matrices where memory is weak: of each lane, what it has stored to the bytes
// is in memory before. They are never delayed, stale or late, and order nothing.
#pragma once

#include <cstdint>

#include "emulator/state/context.h"

namespace barracuda::emulator {

Step execute_weak_matrix(Context& context, const Instruction& instruction, std::uint32_t mask);

}  // namespace barracuda::emulator
