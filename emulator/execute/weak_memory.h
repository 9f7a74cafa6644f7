// Loads, stores and atomic operations where memory is weak, lane by lane.
#pragma once

#include "emulator/state/context.h"

namespace barracuda::emulator {

Step execute_weak_load(Context& context, const Instruction& instruction, std::uint32_t mask);
// Where a load that may be late takes place at the latest.
Step execute_late_load(Context& context, const Instruction& instruction, std::uint32_t mask);
Step execute_weak_store(Context& context, const Instruction& instruction, std::uint32_t mask);
// What acts on memory itself: atomic operations, mbarriers, loads and stores that are never weak.
// What the thread sees at the bytes is in memory before.
Step execute_weak_atomic(Context& context, const Instruction& instruction, std::uint32_t mask);

}  // namespace barracuda::emulator
