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
#include <boost/unordered/unordered_flat_set.hpp>

#include "host_detector/clock/completions.h"
#include "host_detector/clock/thread_state.h"
#include "host_detector/sync/small_map.h"
#include "host_detector/sync/value_graph.h"

namespace barracuda::detector {

// The writer, for explaining a race: what it knew, had fenced, and had read and not acquired.
struct Writer {
  ThreadKey thread;
  wire::SiteId site{};
  ThreadState state;
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
  // Until when in its own time the writer's knowledge is in these; 0 where that is not known.
  std::array<std::array<Time, kLevelCount>, kChannelCount> known_until{};
};

struct Observation {
  ThreadKey thread;
  std::optional<std::uint64_t> value;
  Time time = 0;
  std::uint32_t sequence = 0;  // of the last release record applied before
  bool is_poll = false;
};

// What an acquire finds at each level, for its own CTA and cluster. What the thread finds at a
// level by a later one of the same source has all of that.
struct Acquired {
  std::array<Clock, kLevelCount> clocks;
  std::uint64_t source = 0;  // 0: not known
};

class SyncLocation {
 public:
  // Values kept apart; older ones are merged and then given to every acquire, which may hide a
  // race. A barrier of a grid has four for each block, until its counter has gone round once.
  static constexpr std::size_t kMaxValues = 4096;
  // Numbers of evicted values that are known as such; with more, any value may lead to any.
  static constexpr std::size_t kMostEvicted = std::size_t{1} << 20;

  void publish(Publication publication);

  // `reach` is what the acquirer's scope includes. Narrow levels repeat, for the most part, what
  // the device level has: they are only filled where they matter.
  struct Reach {
    ScopeLevel level = ScopeLevel::kDevice;
    bool needs_narrow = false;  // some fence that follows may be of a narrower scope
  };

  [[nodiscard]] Acquired acquire(const std::optional<std::uint64_t>& value, const ThreadKey& thread,
                                 const Reach& reach, Channel channel);
  // A poll that waits for a change of `bits` has read `value`: the first of the values before it,
  // along atomics, with which it would have been over. All that synchronises here are atomics of
  // known values, else it is `value`.
  [[nodiscard]] std::uint64_t first_with_same(std::uint64_t bits, std::uint64_t value);
  void observe(const Observation& observation);

  // What was done so far: it grows with the records, not with the values that they find.
  struct Work {
    std::uint64_t joins = 0, steps = 0;
  };

  [[nodiscard]] Work work() const { return {.joins = graph_.joins(), .steps = steps_}; }

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

  using Values = boost::container::small_vector<std::uint64_t, 1>;

  // Where a walk back along atomics ended, while no value has got another before it since.
  struct Walk {
    std::uint64_t bits = 0, first = 0;
    std::uint64_t ways = 0;  // ways_ then
  };

  struct Node : ValueGraph::Node {
    Values before;  // along atomics
    std::optional<Walk> walk;
    SmallMap<ObserverKey, ObservedTimes> observers;
    std::vector<Writer> writers;  // the last few
  };

  Node& node(std::uint64_t value);
  [[nodiscard]] Node* find(std::uint64_t value) const;
  Node& any();
  void link(std::uint64_t read, std::uint64_t written);
  void publish_narrow(Node& place, const Publication& publication, Channel channel);
  void evict();
  void merge_into_any(Node& old);
  // Where observers of a value are kept that is one of many of its group.
  [[nodiscard]] static Node& common_node(Node& node);
  static void take_narrow(Acquired& acquired, const ValueGraph::Group& from,
                          const ThreadKey& thread, ScopeLevel level, Channel channel);
  static NarrowKey narrow_key(const ThreadKey& thread, ScopeLevel level, Channel channel);

  static const Node& node_of(const ValueGraph::Node* node) {
    return static_cast<const Node&>(*node);
  }

  ValueGraph graph_;
  SmallMap<std::uint64_t, std::unique_ptr<Node>> nodes_;  // by value
  // Evicted values. What is released through one of them, or through values before it that come
  // late, any value may have taken: they are any_ for good.
  boost::unordered_flat_set<std::uint64_t> evicted_;
  std::uint64_t ways_ = 0, steps_ = 0;
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
  const Node* const seen = value && !takes_all_ ? find(*value) : nullptr;
  if (seen == nullptr || seen == any_.get()) {
    return std::ranges::any_of(nodes_, [&](const auto& each) { return holds_at(*each.second); });
  }
  return std::ranges::any_of(ValueGraph::after(*seen), [&](const auto* group) {
    return std::ranges::any_of(group->nodes(),
                               [&](const auto* node) { return holds_at(node_of(node)); });
  });
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
  } else if (const Node* const seen = find(*value); seen != nullptr && seen != any_.get()) {
    for (const ValueGraph::Group* const group : ValueGraph::before(*seen)) {
      for (const auto* node : group->nodes()) {
        visit_all(node_of(node));
      }
    }
  }
}

}  // namespace barracuda::detector
