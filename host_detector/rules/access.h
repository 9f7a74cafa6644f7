// One access on its way through the check: what is known of it, and the race at hand.
#pragma once

#include <algorithm>
#include <cstdint>

#include <boost/container/small_vector.hpp>

#include "host_detector/rules/access_check.h"

namespace barracuda::detector {

// The sites that an access was found to race with at one place. A word that all threads write
// without order keeps an access of each: after some races of one pair of sites, more tell nothing
// new, and looking for them takes time that grows with the square of the threads.
class RacingSites {
 public:
  static constexpr std::uint32_t kEnough = 64;

  void clear() { sites_.clear(); }

  [[nodiscard]] bool has_enough_of(std::uint32_t site) const {
    const auto found = std::ranges::find(sites_, site, &Site::site);
    return found != sites_.end() && found->races >= kEnough;
  }

  void count(std::uint32_t site) {
    const auto found = std::ranges::find(sites_, site, &Site::site);
    if (found == sites_.end()) {
      sites_.push_back({.site = site, .races = 1});
    } else {
      ++found->races;
    }
  }

 private:
  struct Site {
    std::uint32_t site = 0, races = 0;
  };

  boost::container::small_vector<Site, 4> sites_;
};

struct AccessCheck::Access {
  const Actor& actor;
  const WarpOperation& operation;
  const wire::SiteInfo& site;
  ShadowMemory::Visitor shadow;  // of global memory
  std::uint32_t lanes;
  std::uint32_t width;  // bytes of one lane
  Entry pattern;        // what all its entries have in common
  CrowdKind kind = CrowdKind::kNone;
  Mode mode = Mode::kCheckAndRecord;
  bool are_addresses_possible = true;
  // Of the block at hand.
  Place place;
  std::uint64_t block_start = 0;
  RacingSites racing_sites;
  // Of the race at hand.
  Verdict verdict;

  struct Unordered {
    std::uint32_t older_lane = 0, lane = 0, byte = 0;
    bool is_ordered = false;  // but no proxy fence lies between, or order does not help
  } unordered;
};

}  // namespace barracuda::detector
