// The driver's own memory in which the blocks of a cooperative launch meet (grid.sync() of
// cooperative groups). Its address is in two registers that no program reads otherwise.
#pragma once

#include <cstdint>

#include "ptx/analysis/program.h"

namespace barracuda::ptx {

// Whether it is one of the two halves of that address.
[[nodiscard]] bool is_grid_workspace(const Operand& operand);

// Whether the entry, or what it calls, lets the blocks of its grid meet. `entry`: as of
// find_global_writes.
[[nodiscard]] bool has_grid_barrier(const Program& program, std::uint32_t entry);

}  // namespace barracuda::ptx
