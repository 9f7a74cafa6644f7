// What was released through one synchronising location (RACE_RULES section 1, scopes and
// observation). Values are nodes, atomics are edges from the value they read to the one they wrote;
// an acquire takes the releases of the value it saw and of all before it on the way of atomics.
// Publishing joins, it never overwrites: the order in which records arrive is not coherence order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/container_hash/hash.hpp>

#include "host_detector/clock/completions.h"
#include "host_detector/clock/thread_state.h"
#include "host_detector/sync/small_map.h"

namespace barracuda::detector {

// A strong write releases to strong reads; a flag store to polls. A volatile flag store does both.
enum class Channel : std::uint8_t { kStrong, kFlag };
inline constexpr std::size_t kChannelCount = 2;

struct ThreadKey {
  CtaKey cta{};
  std::uint32_t cluster = 0;
  std::uint16_t warp = 0;  // pseudo warps are above the real ones (completions.h)
  std::uint8_t lane = 0;
  friend bool operator==(const ThreadKey&, const ThreadKey&) = default;
};

static_assert(mbarrier_warp(kMaxMbarriers - 1) <= 0xFFFF, "a ThreadKey has room for all of them");

// The writer, for explaining a race: all it knew, what of it was fenced and how far, and what it
// had read and not acquired.
struct Writer {
  ThreadKey thread;
  wire::SiteId site{};
  Clock known;
  std::array<Release, kLevelCount> fenced;
  std::array<Clock, kLevelCount> unacquired;
  Time now = 0;
  std::optional<wire::SiteId> fence;  // if that is what it synchronised by last
  bool is_release = false;
};

// One strong write or flag store.
struct Publication {
  Writer writer;
  std::optional<std::uint64_t> value_read;  // of an atomic
  std::optional<std::uint64_t> value_written;
  bool is_atomic = false;
  // What each level may take; empty clocks publish nothing. Levels above the writer's scope are
  // empty.
  std::array<std::array<Clock, kLevelCount>, kChannelCount> releases;
};

struct Observation {
  ThreadKey thread;
  std::optional<std::uint64_t> value;
  Time time = 0;
  std::uint32_t sequence = 0;  // of the last release record applied before
  bool is_poll = false;
};

// What an acquire finds at each level, for its own CTA and cluster.
using Acquired = std::array<Clock, kLevelCount>;

class SyncLocation {
 public:
  // Values kept apart; older ones are merged and then given to every acquire, which may hide a
  // race.
  static constexpr std::size_t kMaxValues = 512;

  void publish(const Publication& publication);

  // `reach` is what the acquirer's scope includes. Narrow levels repeat, for the most part, what
  // the device level has: they are only filled where they matter.
  struct Reach {
    ScopeLevel level = ScopeLevel::kDevice;
    bool needs_narrow = false;  // some fence that follows may be of a narrower scope
  };

  [[nodiscard]] Acquired acquire(const std::optional<std::uint64_t>& value, const ThreadKey& thread,
                                 const Reach& reach, Channel channel) const;
  // A poll that waits for a change of `bits` has read `value`: the first of the values before it,
  // along atomics, with which it would have been over. All that synchronises here are atomics of
  // known values, else it is `value`.
  [[nodiscard]] std::uint64_t first_with_same(std::uint64_t bits, std::uint64_t value) const;
  void observe(const Observation& observation);

  // Calls `holds(observation)` for those who saw `value` (nothing: any value) directly or through
  // atomics after release record `sequence`, until it returns true; true if it did.
  template <typename Predicate>
  [[nodiscard]] bool any_observer(const std::optional<std::uint64_t>& value, std::uint32_t sequence,
                                  Predicate holds) const;
  // Calls visit(writer) for the writes kept for explanations that an observer of `value` saw.
  template <typename Visit>
  void for_each_seen(const std::optional<std::uint64_t>& value, Visit visit) const;

 private:
  static constexpr std::size_t kWritersKept = 4;
  static constexpr std::size_t kObservationsKept = 4;

  struct ObserverKey {
    CtaKey cta{};
    std::uint16_t warp = 0;
    std::uint8_t lane = 0;
    bool is_poll = false;
    friend bool operator==(const ObserverKey&, const ObserverKey&) = default;

    friend std::size_t hash_value(const ObserverKey& key) {
      std::size_t seed = (key.warp * wire::kWarpLanes + key.lane) * 2 + (key.is_poll ? 1U : 0U);
      boost::hash_combine(seed, key.cta.packed());
      return seed;
    }
  };

  // When a thread saw a value; beyond kObservationsKept the last is widened, which may hide a race
  // on the location itself.
  struct ObservedTime {
    Time time = 0;
    std::uint32_t sequence = 0;
  };

  using ObservedTimes = boost::container::small_vector<ObservedTime, 1>;

  struct NarrowKey {
    CtaKey place{};  // a CTA, or a cluster of a launch
    ScopeLevel level{};
    Channel channel{};
    friend bool operator==(const NarrowKey&, const NarrowKey&) = default;

    friend std::size_t hash_value(const NarrowKey& key) {
      std::size_t seed = static_cast<std::size_t>(key.level) * kChannelCount +
                         static_cast<std::size_t>(key.channel);
      boost::hash_combine(seed, key.place.packed());
      return seed;
    }
  };

  using Values = boost::container::small_vector<std::uint64_t, 1>;

  struct Node {
    // What the device level may take, of this value and of all before it.
    std::array<Clock, kChannelCount> device;
    SmallMap<NarrowKey, Clock> narrow;  // of this value alone
    Values before, after;               // along atomics
    SmallMap<ObserverKey, ObservedTimes> observers;
    std::vector<Writer> writers;  // the last few
  };

  Node& node(std::uint64_t value);
  [[nodiscard]] Node* find(std::uint64_t value) const;
  Node& any();
  void link(std::uint64_t read, std::uint64_t written);
  void propagate(std::uint64_t value);
  void publish_narrow(Node& place, const Publication& publication, Channel channel);
  void evict();
  void merge_into_any(const Node& old);
  void take_narrow(Acquired& acquired, const Node& from, const ThreadKey& thread, ScopeLevel level,
                   Channel channel) const;
  static NarrowKey narrow_key(const ThreadKey& thread, ScopeLevel level, Channel channel);
  [[nodiscard]] std::vector<const Node*> reachable(std::uint64_t value, Values Node::* edges) const;

  SmallMap<std::uint64_t, std::unique_ptr<Node>> nodes_;  // by value
  // Writes of unknown value, evicted values, unknown observers; null while there is none.
  std::unique_ptr<Node> any_;
  bool has_stores_ = false;       // not everything was written by atomics
  bool takes_all_ = false;        // an atomic read or wrote an unknown value: any may lead to any
  bool has_observers_ = false;    // some node has or had
  bool has_narrow_only_ = false;  // some release reaches a CTA or cluster only
};

template <typename Predicate>
bool SyncLocation::any_observer(const std::optional<std::uint64_t>& value, std::uint32_t sequence,
                                Predicate holds) const {
  if (!has_observers_) {
    return false;
  }
  const auto holds_at = [&](const Node& node) {
    for (const auto& [key, times] : node.observers) {
      Observation observation{
          .thread = {.cta = key.cta, .cluster = 0, .warp = key.warp, .lane = key.lane},
          .value = std::nullopt,
          .is_poll = key.is_poll};
      for (const ObservedTime& observed : times) {
        observation.time = observed.time;
        observation.sequence = observed.sequence;
        if (observed.sequence >= sequence && holds(observation)) {
          return true;
        }
      }
    }
    return false;
  };
  if (any_ != nullptr && holds_at(*any_)) {
    return true;
  }
  if (!value || takes_all_ || find(*value) == nullptr) {
    return std::ranges::any_of(nodes_, [&](const auto& each) { return holds_at(*each.second); });
  }
  return std::ranges::any_of(reachable(*value, &Node::after),
                             [&](const Node* node) { return holds_at(*node); });
}

template <typename Visit>
void SyncLocation::for_each_seen(const std::optional<std::uint64_t>& value, Visit visit) const {
  const auto visit_all = [&](const Node& node) {
    for (const Writer& writer : node.writers) {
      visit(writer);
    }
  };
  if (any_ != nullptr) {
    visit_all(*any_);
  }
  if (!value || takes_all_) {
    for (const auto& [number, node] : nodes_) {
      visit_all(*node);
    }
  } else {
    for (const Node* node : reachable(*value, &Node::before)) {
      visit_all(*node);
    }
  }
}

}  // namespace barracuda::detector
