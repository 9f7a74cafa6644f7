// One access on its way through the check: what is known of it, and the race at hand.
#pragma once

#include <cstdint>

#include "host_detector/rules/access_check.h"

namespace barracuda::detector {

struct AccessCheck::Access {
  const Actor& actor;
  const WarpOperation& operation;
  const wire::SiteInfo& site;
  std::uint32_t lanes;
  std::uint32_t width;  // bytes of one lane
  Entry pattern;        // what all its entries have in common
  CrowdKind kind = CrowdKind::kNone;
  Mode mode = Mode::kCheckAndRecord;
  bool are_addresses_possible = true;
  // Of the block at hand.
  Place place;
  std::uint64_t block_start = 0;
  // Of the race at hand.
  Verdict verdict;

  struct Unordered {
    std::uint32_t older_lane = 0, lane = 0, byte = 0;
  } unordered;
};

}  // namespace barracuda::detector
