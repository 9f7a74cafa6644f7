// Polls that wait until a bit is no longer what it was when their thread arrived: the barrier of a
// cooperative grid (cooperative_groups/details/sync.h), and barriers of that form by hand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/analysis/program.h"

namespace barracuda::ptx {

// The bits whose change the load there, in this function, waits for: what it reads and what an
// atomic has read are put together by xor, and bits of that are tested. 0: it does not.
std::uint64_t awaited_change(const Program& program, const Function& function, std::size_t load);

}  // namespace barracuda::ptx
