// The command line of `barracuda fix`.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"

namespace barracuda::cli {

inline constexpr const char* kFixDescription =
    "find the fences, scopes, orders and barriers that make a program's races go away";

// The words behind `fix`.
Command parse_fix(const std::vector<std::string>& words, const std::string& environment_options);

}  // namespace barracuda::cli
