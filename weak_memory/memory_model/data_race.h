// Data races of one execution, as the PTX ISA defines them: two accesses of one location by
// different threads, at least one of them a write, not both morally strong with each other, and not
// ordered by causality.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "weak_memory/memory_model/execution.h"
#include "weak_memory/memory_model/ptx_axioms.h"

namespace barracuda::memory_model {

// Numbers of the two events; none: the execution has no data race.
std::optional<std::pair<std::size_t, std::size_t>> find_data_race(const std::vector<Event>& events,
                                                                  const Skeleton& skeleton,
                                                                  const Consistent& execution);

}  // namespace barracuda::memory_model
