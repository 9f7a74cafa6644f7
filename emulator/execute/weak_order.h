// What orders memory where it is weak: drains, which make a thread's delayed stores visible to a
// scope, and windows, which bound how old a value a thread may read.
#pragma once

#include <cstdint>

#include "emulator/state/context.h"
#include "emulator/state/weak_state.h"

namespace barracuda::emulator {

ThreadName thread_name(const Context& context, int lane);

enum class Pace : std::uint8_t { kInTurns, kAtOnce };

// Makes what the lanes of `mask` have delayed visible to the threads of the scope, and beyond the
// CTA all that their block sees. In turns, other warps may run between two stores: the drain is
// over at the first instant when nothing is left, including what others added. False: not yet;
// return try_again().
bool drain(Context& context, std::uint32_t mask, wire::Scope scope, WeakEnd end, Pace pace);
// The instruction is executed again, after others.
Step try_again(Context& context);

void reset_windows(Context& context, std::uint32_t mask);

// What the instruction orders, around what it does.
Step execute_weak_order(Context& context, const Instruction& instruction, std::uint32_t mask);
// The same of a device function of CUDA that reads or frees memory.
Step execute_weak_builtin(Context& context, const Instruction& instruction, std::uint32_t mask);

// A range of memory that an asynchronous copy of the lane will read or write, on the host.
void settle_for_copy(Context& context, int lane, const std::byte* memory, std::uint64_t bytes);

}  // namespace barracuda::emulator
