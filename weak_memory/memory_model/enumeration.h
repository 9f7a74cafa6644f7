// The executions of a program that the PTX model allows: ways of its threads that fit together, and
// of each the consistent executions.
#pragma once

#include <set>

#include "weak_memory/memory_model/exploration.h"
#include "weak_memory/memory_model/litmus_test.h"
#include "weak_memory/memory_model/ptx_axioms.h"

namespace barracuda::memory_model {

// Of finals that differ only in locations that the test does not name, one is kept: memory that it
// does not name is given as zero.
Exploration explore_axioms(const LitmusTest& test, PtxVersion version,
                           const ExploreOptions& options);

// All outcomes that the axioms allow. An execution has at most 64 events: its accesses (an atomic
// is two), fences, barriers, and one initial write for each location.
std::set<Outcome> ptx_outcomes(const Program& program, PtxVersion version = PtxVersion::k60);

}  // namespace barracuda::memory_model
