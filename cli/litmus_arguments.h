// The command lines of `barracuda litmus` and `barracuda tune`.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"

namespace barracuda::cli {

inline constexpr const char* kLitmusDescription =
    "run litmus tests on a device and count what comes out of them";
inline constexpr const char* kTuneDescription =
    "find the stress that shows most weak behaviour on this GPU";

// The words behind `litmus`, and behind `tune`.
Command parse_litmus(const std::vector<std::string>& words);
Command parse_tune(const std::vector<std::string>& words);

}  // namespace barracuda::cli
