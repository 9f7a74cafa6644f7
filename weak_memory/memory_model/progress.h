// Whether a program may go on for ever under the PTX model: some execution in which each thread
// that does not come to its end waits at a barrier that never opens, or goes round in a loop whose
// loads can go on returning what they return.
#pragma once

#include "weak_memory/memory_model/execution.h"
#include "weak_memory/memory_model/exploration.h"
#include "weak_memory/memory_model/litmus_test.h"

namespace barracuda::memory_model {

// Exploration::violation is such an execution, with what each thread waits for in its first lines;
// the finals are not sought. A strong load goes on returning what the last write in coherence order
// left, for others become visible in the end; a plain one may return for ever what it may return
// once.
Exploration explore_termination(const LitmusTest& test, PtxVersion version,
                                const ExploreOptions& options);

}  // namespace barracuda::memory_model
