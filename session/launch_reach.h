// Which part of each allocation a launch may access, from its code and its arguments: of streams
// that share an array, each works on a part of it.
#pragma once

#include <optional>

#include "session/allocation_table.h"
#include "session/launch_arguments.h"
#include "session/memory_ranges.h"

namespace barracuda::session {

// Of each allocation that a pointer of the arguments leads to and that is accessed, one range: from
// the first byte to the last if all addresses are known, else all of it. Guards are not read, so
// threads that do nothing count. Without the module's variables. Nothing: it may be any memory.
std::optional<MemoryRanges> find_reach(const KnownLaunch& launch,
                                       const AllocationTable& allocations);

// The part of an allocation that is in reach.
MemoryRange part_in_reach(const MemoryRange& allocation, const MemoryRanges& reach);

// Of each of them; those of which nothing is in reach are left out.
MemoryRanges parts_in_reach(const MemoryRanges& allocations, const MemoryRanges& reach);

}  // namespace barracuda::session
