// All memory models under which a litmus test can be explored, by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/diagnostic.h"
#include "weak_memory/memory_model/exploration.h"
#include "weak_memory/memory_model/litmus_test.h"

namespace barracuda::memory_model {

enum class Model : std::uint8_t { kSc, kWeak, kStrong, kDevice, kPtx60, kPtx75 };

inline constexpr std::string_view kModelNames = "sc, weak, strong, device, ptx-6.0, ptx-7.5";

// `ptx` is the newest.
std::optional<Model> model_named(std::string_view name);
std::string_view name_of(Model model);

// Whether it has states; if not, it has executions, which axioms forbid or do not.
bool has_states(Model model);

// What the test has that the model does not, with the line; the file's name is left to the caller.
std::optional<Diagnostic> not_in_model(const LitmusTest& test, Model model);

// Whether the threads of a CTA can be explored in lock step under it (ExploreOptions::lockstep),
// and whether it can be asked if the program always ends.
bool has_lockstep(Model model);
bool has_progress(Model model);

// With ExploreOptions::progress an execution that goes on for ever, instead of finals. The test has
// nothing that the model does not.
Exploration explore(const LitmusTest& test, Model model, const ExploreOptions& options);

}  // namespace barracuda::memory_model
