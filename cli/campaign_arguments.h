// The parts of `barracuda campaign`.
#pragma once

#include <span>
#include <string_view>

namespace barracuda::cli {

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

}  // namespace barracuda::cli
