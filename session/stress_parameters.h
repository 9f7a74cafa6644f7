// Memory stress as it is kept for one GPU with one driver, and as the options choose it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/expected.h"
#include "device_logger/stress_shape.h"

namespace barracuda::session {

struct StressParameters {
  std::string gpu, driver;      // of which they were found; empty: built in, for Hopper
  std::uint32_t distance = 64;  // words between two locations: the critical patch
  stress::StressShape stress{.kind = stress::StressKind::kRandom};

  friend bool operator==(const StressParameters&, const StressParameters&) = default;
};

// "none", "random", "systematic", "cache".
std::string_view name_of(stress::StressKind kind);
// Nothing for other words.
std::optional<stress::StressKind> stress_kind(std::string_view name);
// "ld st2": the accesses of a sequence.
std::string sequence_text(const stress::StressShape& shape);

// Text, `name value` a line, the first `barracuda-stress 1`. Errors, with file and line: a line of
// another form, another version.
std::string to_string(const StressParameters& parameters);
Expected<StressParameters> parse_stress_parameters(std::string_view text, const std::string& file);

}  // namespace barracuda::session
