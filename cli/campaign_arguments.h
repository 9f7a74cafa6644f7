// The command line of `barracuda campaign`.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"

namespace barracuda::cli {

inline constexpr const char* kCampaignDescription =
    "divide explore, expose or harden into tasks, and run them on this machine or on many";

// The words behind `campaign`.
Command parse_campaign(const std::vector<std::string>& words,
                       const std::string& environment_options);

}  // namespace barracuda::cli
