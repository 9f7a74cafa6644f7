// The command line of `barracuda harden`.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"

namespace barracuda::cli {

inline constexpr const char* kHardenDescription =
    "put a fence behind every access, and keep those that runs with delayed stores need";

// The words behind `harden`.
Command parse_harden(const std::vector<std::string>& words, const std::string& environment_options);

}  // namespace barracuda::cli
