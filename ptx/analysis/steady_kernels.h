// Kernels that do the same each time: which threads access what, and where they meet, depends on
// nothing but the arguments, the shape of the launch and the numbers of thread and block. What they
// compute may depend on memory, but no address, no way that a thread goes and no barrier.
#pragma once

#include <cstdint>
#include <span>

#include "ptx/analysis/program.h"

namespace barracuda::ptx {

// An entry that calls nothing. Its threads are ordered by barriers alone, so that what one launch
// has shown of them holds for each that is like it.
// `sites`: its own.
bool is_steady(const Program& program, std::uint32_t entry, std::span<const PlannedSite> sites);

}  // namespace barracuda::ptx
