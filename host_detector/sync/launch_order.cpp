#include "host_detector/sync/launch_order.h"

#include <algorithm>
#include <utility>

namespace barracuda::detector {

LaunchOrder::Past LaunchOrder::past_of(std::span<const LaunchId> ordered_after) const {
  Past all;
  for (const LaunchId earlier : ordered_after) {
    const auto found = places_.find(earlier);
    if (found == places_.end()) {
      continue;
    }
    const Place& other = found->second;
    const Past& past = pasts_[other.past];
    all.resize(std::max({all.size(), past.size(), std::size_t{other.chain} + 1}));
    for (std::size_t chain = 0; chain < past.size(); ++chain) {
      all[chain] = std::max(all[chain], past[chain]);
    }
    all[other.chain] = std::max(all[other.chain], other.position);
  }
  return all;
}

void LaunchOrder::add(LaunchId launch, std::span<const LaunchId> ordered_after) {
  const auto continued = std::ranges::find_if(ordered_after, [&](LaunchId earlier) {
    const auto found = places_.find(earlier);
    return found != places_.end() && chains_[found->second.chain].tail == earlier;
  });
  Past past = past_of(ordered_after);
  Place place;
  if (continued == ordered_after.end()) {
    place.chain = static_cast<std::uint32_t>(chains_.size());
    place.position = 1;
    chains_.push_back({});
  } else {
    const Place& tail = places_.find(*continued)->second;
    place.chain = tail.chain;
    place.position = tail.position + 1;
    past[place.chain] = 0;  // its position says that
  }
  while (!past.empty() && past.back() == 0) {
    past.pop_back();
  }
  Chain& chain = chains_[place.chain];
  if (place.position == 1 || pasts_[chain.past] != past) {
    chain.past = static_cast<std::uint32_t>(pasts_.size());
    pasts_.push_back(std::move(past));
  }
  place.past = chain.past;
  chain.tail = launch;
  places_.insert_or_assign(launch, place);
}

bool LaunchOrder::is_before(const Place& first, const Place& second, const Past& past) {
  return first.chain == second.chain
             ? first.position < second.position
             : first.chain < past.size() && past[first.chain] >= first.position;
}

bool LaunchOrder::is_before(LaunchId first, LaunchId second) const {
  const auto a = places_.find(first);
  const auto b = places_.find(second);
  return a != places_.end() && b != places_.end() &&
         is_before(a->second, b->second, pasts_[b->second.past]);
}

bool LaunchOrder::is_after_all(LaunchId launch) const {
  return std::ranges::all_of(chains_, [&](const Chain& chain) {
    return chain.tail == launch || is_before(chain.tail, launch);
  });
}

}  // namespace barracuda::detector
