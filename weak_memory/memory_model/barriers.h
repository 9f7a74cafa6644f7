// Which threads pass their barriers in one execution, and which threads they waited for.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "weak_memory/memory_model/execution.h"
#include "weak_memory/memory_model/program.h"
#include "weak_memory/memory_model/search_end.h"

namespace barracuda::memory_model {

// Calls `found` for each choice of who opens the barriers that have a quorum, by which every thread
// comes to the end of its events, and waits for ever at those of `closed` (bits; each the last
// event of its thread); Event::is_awaited is set by it. `found` returns whether to go on. Where it
// cannot be so there is no choice: an execution without an end ends in no way. At `end` the search
// ends.
void for_each_opening(const Program& program, std::vector<Event>& events, std::uint64_t closed,
                      const SearchEnd& end, const std::function<bool()>& found);

}  // namespace barracuda::memory_model
