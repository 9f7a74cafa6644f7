#include "host_detector/sync/location.h"

#include <algorithm>
#include <span>

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

NarrowKey SyncLocation::narrow_key(const ThreadKey& thread, ScopeLevel level, Channel channel) {
  return {
      .place = level == ScopeLevel::kCta ? thread.cta : CtaKey(thread.cta.work(), thread.cluster),
      .level = level,
      .channel = channel};
}

SyncLocation::Node& SyncLocation::node(std::uint64_t value) {
  if (!evicted_.empty() && evicted_.contains(value)) {
    return any();
  }
  std::unique_ptr<Node>& place = nodes_[value];
  if (place == nullptr) {
    place = std::make_unique<Node>();
    graph_.add(*place);
  }
  return *place;
}

SyncLocation::Node* SyncLocation::find(std::uint64_t value) const {
  const std::unique_ptr<Node>* const place = nodes_.find(value);
  if (place != nullptr) {
    return place->get();
  }
  return !evicted_.empty() && evicted_.contains(value) ? any_.get() : nullptr;
}

SyncLocation::Node& SyncLocation::any() {
  if (any_ == nullptr) {
    any_ = std::make_unique<Node>();
    graph_.add(*any_);
  }
  return *any_;
}

void SyncLocation::link(std::uint64_t read, std::uint64_t written) {
  if (read == written) {
    return;
  }
  Node& from = node(read);
  const std::size_t known = nodes_.size();
  Node& to = node(written);
  if (!add_missing(to.before, read) && nodes_.size() == known) {
    ++ways_;  // a walk may have come by
  }
  if (&from != any_.get()) {  // what that has every acquire takes
    graph_.link(from, to);
  }
}

void SyncLocation::publish_narrow(Node& place, const Publication& publication, Channel channel) {
  const auto& releases = publication.releases[static_cast<std::size_t>(channel)];
  for (const ScopeLevel level : {ScopeLevel::kCta, ScopeLevel::kCluster}) {
    const Clock& release = releases[index_of_level(level)];
    if (release.is_empty()) {
      continue;
    }
    place.group->narrow[narrow_key(publication.writer.thread, level, channel)].add(
        release, publication.writer.thread,
        publication.known_until[static_cast<std::size_t>(channel)][index_of_level(level)]);
    has_narrow_only_ =
        has_narrow_only_ || !release.shares_all_with(releases[index_of_level(ScopeLevel::kDevice)]);
  }
}

void SyncLocation::publish(Publication publication) {
  const bool is_known = publication.value_written.has_value();
  has_stores_ = has_stores_ || !publication.is_atomic;
  if (publication.is_atomic && (!is_known || !publication.value_read)) {
    takes_all_ = true;
  }
  Node& place = is_known ? node(*publication.value_written) : any();
  if (is_known && publication.is_atomic && publication.value_read) {
    link(*publication.value_read, *publication.value_written);
  }
  for (const Channel channel : kChannels) {
    const auto index = static_cast<std::size_t>(channel);
    graph_.release(place, channel,
                   publication.releases[index][index_of_level(ScopeLevel::kDevice)]);
    publish_narrow(place, publication, channel);
  }
  if (place.writers.size() == kWritersKept) {
    place.writers.erase(place.writers.begin());
  }
  place.writers.push_back(std::move(publication.writer));
  if (nodes_.size() > kMaxValues) {
    evict();
  }
}

void SyncLocation::take_narrow(Acquired& acquired, const ValueGraph::Group& from,
                               const ThreadKey& thread, ScopeLevel level, Channel channel) {
  for (const ScopeLevel each : {ScopeLevel::kCta, ScopeLevel::kCluster}) {
    if (each > level) {
      break;
    }
    if (const NarrowRelease* const released = from.narrow.find(narrow_key(thread, each, channel))) {
      acquired.clocks[index_of_level(each)].join(released->clock);
    }
  }
}

Acquired SyncLocation::acquire(const std::optional<std::uint64_t>& value, const ThreadKey& thread,
                               const Reach& reach, Channel channel) {
  Acquired acquired;
  const ScopeLevel level = reach.level;
  const bool takes_device = level == ScopeLevel::kDevice;
  const bool takes_narrow = !takes_device || has_narrow_only_ || reach.needs_narrow;
  Clock& device = acquired.clocks[index_of_level(ScopeLevel::kDevice)];
  const auto take = [&](Node& from) {
    if (takes_device) {
      device.join(graph_.device(from, channel));
    }
    if (takes_narrow) {
      for (const ValueGraph::Group* const group : ValueGraph::before(from)) {
        take_narrow(acquired, *group, thread, level, channel);
      }
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
  Node* const seen = find(*value);
  if (seen != nullptr && seen != any_.get()) {
    take(*seen);
    acquired.source = seen->group->source(channel);
  }
  return acquired;
}

std::uint64_t SyncLocation::first_with_same(std::uint64_t bits, std::uint64_t value) {
  Node* const start = find(value);
  // Of a circle each value has what all have; a walk along single values does not leave it.
  if (has_stores_ || takes_all_ || start == nullptr || start->group->nodes().size() > 1) {
    return value;
  }
  std::uint64_t first = value;
  for (std::size_t steps = 0; steps < nodes_.size(); ++steps) {  // values may come again
    ++steps_;
    const Node* const node = find(first);
    if (node == nullptr || node == any_.get()) {
      break;  // evicted: all have what it has
    }
    if (node->walk && node->walk->bits == bits && node->walk->ways == ways_) {
      first = node->walk->first;
      break;
    }
    if (node->before.size() != 1 || ((node->before[0] ^ first) & bits) != 0) {
      break;
    }
    first = node->before[0];
  }
  start->walk = Walk{.bits = bits, .first = first, .ways = ways_};
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
  Node& place = known != nullptr ? common_node(*known) : any();
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

// One of each thread would otherwise be kept for each value of a barrier. All of a group are asked
// for together.
SyncLocation::Node& SyncLocation::common_node(Node& node) {
  constexpr std::size_t kMany = 16;
  const std::vector<ValueGraph::Node*>& alike = node.group->nodes();
  return alike.size() < kMany ? node : static_cast<Node&>(*alike.front());
}

void SyncLocation::merge_into_any(Node& old) {
  Node& any = this->any();
  graph_.fold(old, any);
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
    evicted_.insert(value);
  }
  nodes_.drop_first(kEvicted);
  ++ways_;
  if (evicted_.size() > kMostEvicted) {
    takes_all_ = true;
    evicted_.clear();
  }
}

}  // namespace barracuda::detector
