#include "host_detector/sync/location.h"

#include <algorithm>
#include <span>

#include <boost/unordered/unordered_flat_set.hpp>

namespace barracuda::detector {
namespace {

// Whether it was there.
template <typename Values>
bool add_missing(Values& values, std::uint64_t value) {
  const bool is_there = std::ranges::find(values, value) != values.end();
  if (!is_there) {
    values.push_back(value);
  }
  return is_there;
}

}  // namespace

SyncLocation::NarrowKey SyncLocation::narrow_key(const ThreadKey& thread, ScopeLevel level,
                                                 Channel channel) {
  return {
      .place = level == ScopeLevel::kCta ? thread.cta : CtaKey(thread.cta.work(), thread.cluster),
      .level = level,
      .channel = channel};
}

SyncLocation::Node& SyncLocation::node(std::uint64_t value) {
  std::unique_ptr<Node>& place = nodes_[value];
  if (place == nullptr) {
    place = std::make_unique<Node>();
  }
  return *place;
}

SyncLocation::Node* SyncLocation::find(std::uint64_t value) const {
  const std::unique_ptr<Node>* const place = nodes_.find(value);
  return place == nullptr ? nullptr : place->get();
}

SyncLocation::Node& SyncLocation::any() {
  if (any_ == nullptr) {
    any_ = std::make_unique<Node>();
  }
  return *any_;
}

std::vector<const SyncLocation::Node*> SyncLocation::reachable(std::uint64_t value,
                                                               Values Node::* edges) const {
  std::vector<const Node*> found;
  boost::unordered_flat_set<std::uint64_t> seen{value};
  std::vector<std::uint64_t> open{value};
  while (!open.empty()) {
    const Node* const node = find(open.back());
    open.pop_back();
    if (node == nullptr) {
      continue;
    }
    found.push_back(node);
    for (const std::uint64_t next : node->*edges) {
      if (seen.insert(next).second) {
        open.push_back(next);
      }
    }
  }
  return found;
}

void SyncLocation::propagate(std::uint64_t value) {
  std::vector<std::uint64_t> open{value};
  while (!open.empty()) {
    const Node& from = node(open.back());
    open.pop_back();
    for (const std::uint64_t next : from.after) {
      Node* const to = find(next);
      if (to == nullptr) {
        continue;
      }
      bool changed = false;
      for (std::size_t channel = 0; channel < kChannelCount; ++channel) {
        if (!to->device[channel].covers(from.device[channel])) {
          to->device[channel].join(from.device[channel]);
          changed = true;
        }
      }
      if (changed) {
        open.push_back(next);
      }
    }
  }
}

void SyncLocation::link(std::uint64_t read, std::uint64_t written) {
  if (read == written) {
    return;
  }
  Node& from = node(read);
  Node& to = node(written);
  // Either may have been evicted since there was an edge, and be new: then it lacks what the other
  // still has.
  const bool is_known_after = add_missing(from.after, written);
  const bool is_known_before = add_missing(to.before, read);
  if (is_known_after && is_known_before) {
    return;
  }
  for (std::size_t channel = 0; channel < kChannelCount; ++channel) {
    to.device[channel].join(from.device[channel]);
  }
}

void SyncLocation::publish_narrow(Node& place, const Publication& publication, Channel channel) {
  const auto& releases = publication.releases[static_cast<std::size_t>(channel)];
  for (const ScopeLevel level : {ScopeLevel::kCta, ScopeLevel::kCluster}) {
    const Clock& release = releases[index_of_level(level)];
    if (release.is_empty()) {
      continue;
    }
    place.narrow[narrow_key(publication.writer.thread, level, channel)].join(release);
    has_narrow_only_ =
        has_narrow_only_ || !release.shares_all_with(releases[index_of_level(ScopeLevel::kDevice)]);
  }
}

void SyncLocation::publish(const Publication& publication) {
  const bool is_known = publication.value_written.has_value();
  has_stores_ = has_stores_ || !publication.is_atomic;
  if (publication.is_atomic && (!is_known || !publication.value_read)) {
    takes_all_ = true;
  }
  Node& place = is_known ? node(*publication.value_written) : any();
  if (is_known && publication.is_atomic && publication.value_read) {
    link(*publication.value_read, *publication.value_written);
  }
  for (const Channel channel : {Channel::kStrong, Channel::kFlag}) {
    const auto index = static_cast<std::size_t>(channel);
    place.device[index].join(publication.releases[index][index_of_level(ScopeLevel::kDevice)]);
    publish_narrow(place, publication, channel);
  }
  if (place.writers.size() == kWritersKept) {
    place.writers.erase(place.writers.begin());
  }
  place.writers.push_back(publication.writer);
  if (is_known) {
    propagate(*publication.value_written);
    if (nodes_.size() > kMaxValues) {
      evict();
    }
  }
}

void SyncLocation::take_narrow(Acquired& acquired, const Node& from, const ThreadKey& thread,
                               ScopeLevel level, Channel channel) const {
  for (const ScopeLevel each : {ScopeLevel::kCta, ScopeLevel::kCluster}) {
    if (each > level) {
      break;
    }
    if (const Clock* const released = from.narrow.find(narrow_key(thread, each, channel))) {
      acquired[index_of_level(each)].join(*released);
    }
  }
}

Acquired SyncLocation::acquire(const std::optional<std::uint64_t>& value, const ThreadKey& thread,
                               const Reach& reach, Channel channel) const {
  Acquired acquired;
  const auto index = static_cast<std::size_t>(channel);
  const ScopeLevel level = reach.level;
  const bool takes_device = level == ScopeLevel::kDevice;
  const bool takes_narrow = !takes_device || has_narrow_only_ || reach.needs_narrow;
  Clock& device = acquired[index_of_level(ScopeLevel::kDevice)];
  const auto take = [&](const Node& from) {
    if (takes_device) {
      device.join(from.device[index]);
    }
    if (takes_narrow) {
      take_narrow(acquired, from, thread, level, channel);
    }
  };
  if (any_ != nullptr) {
    take(*any_);
  }
  if (!value || takes_all_) {
    for (const auto& [number, from] : nodes_) {
      take(*from);
    }
    return acquired;
  }
  const Node* const seen = find(*value);
  if (seen == nullptr) {
    return acquired;
  }
  if (!takes_narrow) {
    device.join(seen->device[index]);
    return acquired;
  }
  for (const Node* from : reachable(*value, &Node::before)) {
    take(*from);
  }
  return acquired;
}

std::uint64_t SyncLocation::first_with_same(std::uint64_t bits, std::uint64_t value) const {
  if (has_stores_ || takes_all_) {
    return value;
  }
  std::uint64_t first = value;
  for (std::size_t steps = 0; steps < nodes_.size(); ++steps) {  // values may come again
    const Node* const node = find(first);
    if (node == nullptr || node->before.size() != 1 || ((node->before[0] ^ first) & bits) != 0) {
      break;
    }
    first = node->before[0];
  }
  return first;
}

void SyncLocation::observe(const Observation& observation) {
  // A value that was not written yet may be written later, by a record that is still on its way,
  // only if the observer did not see that write. So it need not be kept, unless some write is of an
  // unknown value and may be the one that was seen.
  Node* const known = observation.value ? find(*observation.value) : nullptr;
  if (observation.value && known == nullptr && !takes_all_) {
    return;
  }
  has_observers_ = true;
  Node& place = known != nullptr ? *known : any();
  ObservedTimes& times = place.observers[ObserverKey{.cta = observation.thread.cta,
                                                     .warp = observation.thread.warp,
                                                     .lane = observation.thread.lane,
                                                     .is_poll = observation.is_poll}];
  if (times.empty() ||
      (times.back().sequence != observation.sequence && times.size() < kObservationsKept)) {
    times.push_back({.time = observation.time, .sequence = observation.sequence});
  } else {
    times.back().sequence = observation.sequence;
  }
}

void SyncLocation::merge_into_any(const Node& old) {
  Node& any = this->any();
  for (std::size_t channel = 0; channel < kChannelCount; ++channel) {
    any.device[channel].join(old.device[channel]);
  }
  for (const auto& [key, release] : old.narrow) {
    any.narrow[key].join(release);
  }
  for (const auto& [key, times] : old.observers) {
    ObservedTimes& merged = any.observers[key];
    merged.insert(merged.end(), times.begin(), times.end());
    for (const ObservedTime& observed : merged) {
      merged.front().time = std::min(merged.front().time, observed.time);
      merged.front().sequence = std::max(merged.front().sequence, observed.sequence);
    }
    merged.resize(1);
  }
}

void SyncLocation::evict() {
  constexpr std::size_t kEvicted = kMaxValues / 2;
  for (const auto& [value, old] : std::span(nodes_.begin(), kEvicted)) {
    merge_into_any(*old);
  }
  nodes_.drop_first(kEvicted);
}

}  // namespace barracuda::detector
