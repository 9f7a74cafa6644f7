// One access on its way through the check: what is known of it, and the race at hand.
#pragma once

#include <algorithm>
#include <cstdint>

#include <boost/container/small_vector.hpp>

#include "host_detector/races/access_check.h"

namespace barracuda::detector {

// The sites that an access was found to race with at one place. A word that all threads write
// without order keeps an access of each: after some races of one pair of sites, more tell nothing
// new, and looking for them takes time that grows with the square of the threads.
class RacingSites {
 public:
  static constexpr std::uint32_t kEnough = 8;

  // Lanes at the same bytes are at one place. `bytes` stay where they are until the next.
  void move_to(std::uint64_t block_start, const Bytes& bytes) {
    if (!sites_.empty() && (block_start != block_start_ || !(bytes == bytes_of_sites_))) {
      sites_.clear();
    }
    block_start_ = block_start;
    bytes_ = &bytes;
  }

  [[nodiscard]] bool has_enough_of(std::uint32_t site) const {
    const auto found = std::ranges::find(sites_, site, &Site::site);
    return found != sites_.end() && found->races >= kEnough;
  }

  // The same of races at every byte of the access.
  [[nodiscard]] bool has_enough_everywhere_of(std::uint32_t site) const {
    const auto found = std::ranges::find(sites_, site, &Site::site);
    return found != sites_.end() && found->races_everywhere >= kEnough;
  }

  void count(std::uint32_t site, bool is_everywhere) {
    bytes_of_sites_ = *bytes_;
    auto found = std::ranges::find(sites_, site, &Site::site);
    if (found == sites_.end()) {
      found = sites_.insert(found, Site{.site = site});
    }
    ++found->races;
    found->races_everywhere += is_everywhere ? 1 : 0;
  }

 private:
  struct Site {
    std::uint32_t site = 0, races = 0, races_everywhere = 0;
  };

  std::uint64_t block_start_ = 0;
  const Bytes* bytes_ = nullptr;
  Bytes bytes_of_sites_;  // copied no sooner than there are some
  boost::container::small_vector<Site, 4> sites_;
};

// Of the older accesses that would be in one shared set with it, those that it has nothing to do
// with.
constexpr PassesBy passes_by(SharedAccessKind kind) {
  return kind == SharedAccessKind::kNone    ? PassesBy::kNobody
         : kind == SharedAccessKind::kReads ? PassesBy::kOtherCtas
                                            : PassesBy::kOtherWarps;
}

struct AccessCheck::Access {
  // Of an aggregate the compiler would clear all the memory first.
  Access(const Actor& by, const WarpOperation& warp_operation, const wire::SiteInfo& at,
         ShadowMemory& global)
      : actor(by), operation(warp_operation), site(at), shadow(global) {}

  const Actor& actor;
  const WarpOperation& operation;
  const wire::SiteInfo& site;
  ShadowMemory::Visitor shadow;  // of global memory
  std::uint32_t lanes = 0;
  std::uint32_t width = 0;  // bytes of one lane
  Cell pattern;             // what all its cells have in common
  SharedAccessKind kind = SharedAccessKind::kNone;
  Mode mode = Mode::kCheckAndRecord;
  bool are_addresses_possible = true;
  // Of the block at hand.
  MemoryPlace place;
  std::uint64_t block_start = 0;
  RacingSites racing_sites;
  std::uint32_t saturated_lanes = 0;  // of a check before the recording: racing with enough there
  // Of the race at hand.
  Verdict verdict;
  std::uint64_t races = 1;          // pairs of lanes at different bytes
  bool is_race_everywhere = false;  // at every byte of the cell

  struct Unordered {
    std::uint32_t older_lane = 0, lane = 0, byte = 0;
    bool is_ordered = false;  // but no proxy fence lies between, or order does not help
  } unordered;
};

}  // namespace barracuda::detector
