// The command line of `barracuda doctor`.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"

namespace barracuda::cli {

inline constexpr const char* kDoctorDescription =
    "what of this machine, and of a program, is in the way of a check, and its cure";

// The words behind `doctor`.
Command parse_doctor(const std::vector<std::string>& words, const std::string& environment_options);

}  // namespace barracuda::cli
