// What an exploration says about a test's condition.
#pragma once

#include "weak_memory/memory_model/exploration.h"
#include "weak_memory/memory_model/litmus_test.h"

namespace barracuda::memory_model {

// The final that decides: one that meets the condition, of forall one that does not; null if there
// is none, which is an answer only where the exploration is complete. Finals that the filter leaves
// out do not count.
const std::pair<const Final, Witness>* deciding_final(const LitmusTest& test,
                                                      const Exploration& found);

// The condition with its quantifier, and `always`.
bool condition_holds(const LitmusTest& test, const Exploration& found);

}  // namespace barracuda::memory_model
