#include "host_detector/launches/launch_order.h"

#include <algorithm>
#include <utility>

namespace barracuda::detector {

LaunchOrder::Past LaunchOrder::past_of(std::span<const WorkId> ordered_after,
                                       LaunchId prerequisite) const {
  Past all;
  for (const WorkId earlier : ordered_after) {
    const LaunchPlace other = places_.find(earlier);
    if (!other.is_known()) {
      continue;
    }
    const Past& past = pasts_[other.past];
    all.resize(std::max({all.size(), past.size(), std::size_t{other.chain} + 1}));
    for (std::size_t chain = 0; chain < past.size(); ++chain) {
      all[chain] = std::max(all[chain], past[chain]);
    }
    all[other.chain] =
        std::max(all[other.chain], other.position - (earlier == prerequisite ? 1 : 0));
  }
  return all;
}

std::uint32_t LaunchOrder::chain_for(std::span<const WorkId> ordered_after, const Past& past) {
  const auto was_over = [&](std::size_t chain) {
    return chain < past.size() && past[chain] == chains_[chain].length;
  };
  for (const WorkId earlier : ordered_after) {
    const LaunchPlace place = places_.find(earlier);
    if (place.is_known() && was_over(place.chain)) {
      return place.chain;
    }
  }
  std::uint32_t chain = 0;
  while (chain < chains_.size() && !was_over(chain)) {
    ++chain;
  }
  if (chain == chains_.size()) {
    chains_.push_back({});
  }
  return chain;
}

void LaunchOrder::add(WorkId launch, std::span<const WorkId> ordered_after, LaunchId prerequisite) {
  Past past = past_of(ordered_after, prerequisite);
  LaunchPlace place{.chain = chain_for(ordered_after, past)};
  Chain& chain = chains_[place.chain];
  place.position = ++chain.length;
  if (place.chain < past.size()) {
    past[place.chain] = 0;  // its position says that
  }
  while (!past.empty() && past.back() == 0) {
    past.pop_back();
  }
  if (place.position == 1 || pasts_[chain.past] != past) {
    chain.past = static_cast<std::uint32_t>(pasts_.size());
    pasts_.push_back(std::move(past));
  }
  place.past = chain.past;
  chain.tail = launch;
  places_.set(launch, place);
}

bool LaunchOrder::is_before(const LaunchPlace& first, const LaunchPlace& second, const Past& past) {
  return first.chain == second.chain
             ? first.position < second.position
             : first.chain < past.size() && past[first.chain] >= first.position;
}

bool LaunchOrder::is_before(WorkId first, WorkId second) const {
  const LaunchPlace a = places_.find(first);
  const LaunchPlace b = places_.find(second);
  return a.is_known() && b.is_known() && is_before(a, b, pasts_[b.past]);
}

bool LaunchOrder::is_after_all(WorkId launch) const {
  return std::ranges::all_of(chains_, [&](const Chain& chain) {
    return chain.tail == launch || is_before(chain.tail, launch);
  });
}

}  // namespace barracuda::detector
