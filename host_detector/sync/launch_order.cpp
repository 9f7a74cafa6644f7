#include "host_detector/sync/launch_order.h"

#include <algorithm>

namespace barracuda::detector {

void LaunchOrder::add(LaunchId launch, std::span<const LaunchId> ordered_after) {
  Place place;
  bool has_chain = false;
  for (const LaunchId earlier : ordered_after) {
    const auto found = places_.find(earlier);
    if (found == places_.end()) {
      continue;
    }
    const Place& other = found->second;
    place.before.resize(
        std::max({place.before.size(), other.before.size(), std::size_t{other.chain} + 1}));
    for (std::size_t chain = 0; chain < other.before.size(); ++chain) {
      place.before[chain] = std::max(place.before[chain], other.before[chain]);
    }
    place.before[other.chain] = std::max(place.before[other.chain], other.position);
    if (!has_chain && tails_[other.chain] == earlier) {
      has_chain = true;
      place.chain = other.chain;
      place.position = other.position + 1;
    }
  }
  if (!has_chain) {
    place.chain = static_cast<std::uint32_t>(tails_.size());
    place.position = 1;
    tails_.push_back(launch);
  }
  tails_[place.chain] = launch;
  places_.insert_or_assign(launch, std::move(place));
}

bool LaunchOrder::is_before(LaunchId first, LaunchId second) const {
  const auto a = places_.find(first);
  const auto b = places_.find(second);
  if (a == places_.end() || b == places_.end()) {
    return false;
  }
  const Place& earlier = a->second;
  const Place& later = b->second;
  return earlier.chain < later.before.size() && later.before[earlier.chain] >= earlier.position;
}

bool LaunchOrder::is_after_all(LaunchId launch) const {
  return std::ranges::all_of(
      tails_, [&](LaunchId tail) { return tail == launch || is_before(tail, launch); });
}

}  // namespace barracuda::detector
