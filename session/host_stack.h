// The program's stack where it called into the tool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace barracuda::session {

// Return addresses, innermost first, at most `limit`, and behind them the noted place in Python.
std::vector<std::uint64_t> host_stack(std::size_t limit);

}  // namespace barracuda::session
