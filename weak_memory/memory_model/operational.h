// The models that have states: a program's finals by going through all of them.
#pragma once

#include <cstdint>
#include <optional>

#include "base/diagnostic.h"
#include "weak_memory/memory_model/exploration.h"
#include "weak_memory/memory_model/litmus_test.h"

namespace barracuda::memory_model {

enum class StateModel : std::uint8_t { kSc, kWeak, kStrong, kDevice };

// What the test has that the model does not, as the end of "the model has no …", with the line.
std::optional<Diagnostic> not_in_model(const LitmusTest& test, StateModel model);

// `test` outlives the call only. It has nothing that the model does not.
Exploration explore_states(const LitmusTest& test, StateModel model, const ExploreOptions& options);

}  // namespace barracuda::memory_model
