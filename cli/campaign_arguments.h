// The command line of `barracuda campaign`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"

namespace barracuda::cli {

inline constexpr const char* kCampaignDescription =
    "divide explore, expose or harden into tasks, and run them on this machine or on many";

// A flag of a part that campaign/__main__.py reads, in the words of its help.
struct CampaignFlag {
  std::string_view names, meaning;
  std::string_view choices;  // with spaces between
};

// write, run, status and result; write's flags are those of its help.
struct CampaignPart {
  std::string_view name, usage, description;
  std::span<const CampaignFlag> flags;
};

std::span<const CampaignPart> campaign_parts();

// The words behind `campaign`.
Command parse_campaign(const std::vector<std::string>& words,
                       const std::string& environment_options);

}  // namespace barracuda::cli
