// The command line of `barracuda expose`.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"

namespace barracuda::cli {

inline constexpr const char* kExposeDescription =
    "run a program with delayed stores until it fails, and say where a fence is missing";

// The words behind `expose`.
Command parse_expose(const std::vector<std::string>& words, const std::string& environment_options);

}  // namespace barracuda::cli
