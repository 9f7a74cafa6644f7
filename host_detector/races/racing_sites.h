// The sites that an access was found to race with at one place. A word that all threads write
// without order keeps an access of each: after some races of one pair of sites and of one kind,
// more tell nothing new, and looking for them takes time that grows with the square of the threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include <boost/container/small_vector.hpp>

#include "host_detector/shadow/cell.h"

namespace barracuda::detector {

class RacingSites {
 public:
  static constexpr std::uint32_t kEnough = 8;

  // Whose access is raced with: those make races of kinds of their own.
  enum class Of : std::uint8_t { kWarp, kBlock, kOthers };

  [[nodiscard]] static Of whose(const Cell& older, const Cell& cell) {
    return older.cta != cell.cta ? Of::kOthers : older.warp != cell.warp ? Of::kBlock : Of::kWarp;
  }

  // Lanes at the same bytes are at one place. `bytes` stay where they are until the next.
  void move_to(std::uint64_t block_start, const Bytes& bytes) {
    if (!sites_.empty() && (block_start != block_start_ || !(bytes == bytes_of_sites_))) {
      sites_.clear();
    }
    block_start_ = block_start;
    bytes_ = &bytes;
  }

  [[nodiscard]] bool has_enough_of(std::uint32_t site, Of whose) const {
    return std::ranges::any_of(sites_, [&](const Site& each) {
      return each.site == site && each.whose == whose && each.races >= kEnough;
    });
  }

  // The same of races at every byte of the access, whose ever.
  [[nodiscard]] bool has_enough_everywhere_of(std::uint32_t site) const {
    return std::ranges::any_of(sites_, [&](const Site& each) {
      return each.site == site && each.races_everywhere >= kEnough;
    });
  }

  void count(std::uint32_t site, Of whose, bool is_everywhere) {
    bytes_of_sites_ = *bytes_;
    auto found = std::ranges::find_if(
        sites_, [&](const Site& each) { return each.site == site && each.whose == whose; });
    if (found == sites_.end()) {
      found = sites_.insert(found, Site{.site = site, .whose = whose});
    }
    ++found->races;
    found->races_everywhere += is_everywhere ? 1 : 0;
  }

  // The lanes of `cell` have enough everywhere: what a recording that comes later will ask.
  void saturate(const Cell& cell) { saturated_lanes_ |= cell.lanes; }

  [[nodiscard]] bool is_saturated(const Cell& cell) const {
    return cell.lanes != 0 && (cell.lanes & ~saturated_lanes_) == 0;
  }

 private:
  struct Site {
    std::uint32_t site = 0, races = 0, races_everywhere = 0;
    Of whose = Of::kOthers;
  };

  std::uint64_t block_start_ = 0;
  const Bytes* bytes_ = nullptr;
  Bytes bytes_of_sites_;  // copied no sooner than there are some
  boost::container::small_vector<Site, 4> sites_;
  std::uint32_t saturated_lanes_ = 0;
};

}  // namespace barracuda::detector
