// The allocations of which a launch accesses each byte in at most one of its threads, and those
// that it accesses by atomics alone: of those, accesses need no record
// (docs/decisions/device-filter.md). They are owned.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device_logger/unlogged_memory.h"
#include "ptx/instrument.h"
#include "session/allocation_table.h"
#include "session/device_driver.h"
#include "session/launch_arguments.h"

namespace barracuda::session {

struct OwnedAllocation {
  MemoryRange range;
  std::vector<const ptx::GlobalAccess*> accesses;  // of the kernel, those that may be to it
};

// None but those that no range of `except` touches.
std::vector<OwnedAllocation> find_owned(const KnownLaunch& launch,
                                        const AllocationTable& allocations,
                                        std::span<const MemoryRange> except);

// The first site of the kernel's accesses.
std::uint32_t first_owned_site(const ptx::GlobalAccesses& accesses);

}  // namespace barracuda::session
