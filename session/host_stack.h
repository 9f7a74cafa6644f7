// The program's stack where it called into the tool.
#pragma once

#include <cstdint>
#include <vector>

namespace barracuda::session {

// Walking the stack costs some microseconds: later calls of a long run go without.
inline constexpr std::uint64_t kMostStacks = 20000;

// Return addresses, innermost first, at most 64, and behind them the noted place in Python.
std::vector<std::uint64_t> host_stack();

}  // namespace barracuda::session
