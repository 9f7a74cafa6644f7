// Programs whose events are the same whatever their reads read: no jumps, no compare-and-swap, no
// barrier that a register names. Of these the values follow from where each read reads from, so
// that none needs to be guessed.
#pragma once

#include <cstddef>
#include <vector>

#include "weak_memory/memory_model/execution.h"
#include "weak_memory/memory_model/program.h"

namespace barracuda::memory_model {

bool is_straight_line(const Program& program);

// Gives the reads and writes of `events` the values that they have where each read reads from
// `source`, and returns the registers at the end. No value may depend on itself (No Thin Air).
// `events`: as for_each_consistent() takes them, of a straight-line program.
Outcome evaluate(const Program& program, const std::vector<std::size_t>& source,
                 std::vector<Event>& events);

}  // namespace barracuda::memory_model
