// Which values of a location lead to which along atomics, and what was released through them and
// all values before them. Values that lead to each other have the same, and are one group: those of
// a barrier whose counter runs in a circle, as a grid's does. What a group has is joined when it
// is asked for, so that a release costs one join and not one for each value behind it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/container_hash/hash.hpp>

#include "host_detector/clock/clock.h"
#include "host_detector/clock/thread_state.h"
#include "host_detector/sync/small_map.h"
#include "host_detector/sync/thread_key.h"

namespace barracuda::detector {

// A strong write releases to strong reads; a flag store to polls. A volatile flag store does both.
enum class Channel : std::uint8_t { kStrong, kFlag };
inline constexpr std::array kChannels{Channel::kStrong, Channel::kFlag};
inline constexpr std::size_t kChannelCount = kChannels.size();

// Whom a release reaches that is for a CTA or a cluster only.
struct NarrowKey {
  CtaKey place{};  // a CTA, or a cluster of a launch
  ScopeLevel level{};
  Channel channel{};
  friend bool operator==(const NarrowKey&, const NarrowKey&) = default;

  friend std::size_t hash_value(const NarrowKey& key) {
    std::size_t seed =
        static_cast<std::size_t>(key.level) * kChannelCount + static_cast<std::size_t>(key.channel);
    boost::hash_combine(seed, key.place.packed());
    return seed;
  }
};

// What was released to them.
struct NarrowRelease {
  Clock clock;
  ThreadKey by;          // all of it, or nobody
  Time known_until = 0;  // in that thread's time

  // A thread's knowledge grows: what it releases stands for what it knew and released before.
  void add(const Clock& release, const ThreadKey& thread, Time until) {
    const bool is_comparable = known_until != 0 && until != 0 && by == thread;
    if (is_comparable && until < known_until) {
      return;
    }
    if (clock.is_empty() || is_comparable) {
      clock = release;
      by = thread;
      known_until = until;
    } else {
      clock.join(release);
      known_until = 0;
    }
  }

  void add(const NarrowRelease& other) { add(other.clock, other.by, other.known_until); }
};

class ValueGraph {
 public:
  class Group;

  // What is kept of a value; it stays where it is.
  struct Node {
    Group* group = nullptr;
  };

  using Groups = boost::container::small_vector<Group*, 1>;

  class Group {
   public:
    // Releases of its own values that reach a CTA or cluster.
    SmallMap<NarrowKey, NarrowRelease> narrow;

    [[nodiscard]] const std::vector<Node*>& nodes() const { return nodes_; }

    // Names what is acquired from it and nowhere else; never 0. It has always more.
    [[nodiscard]] std::uint64_t source(Channel channel) const {
      return number_ * kChannelCount + static_cast<std::size_t>(channel);
    }

   private:
    friend class ValueGraph;
    // What the device level may take. It lacks something of groups before it if it is stale; then
    // those after it are as well.
    std::array<Clock, kChannelCount> device_;  // without homes
    std::uint64_t version_ = 0;                // of both
    bool is_stale_ = false;
    std::uint64_t seen_ = 0;  // by the search of that number
    Groups before_, after_;
    std::vector<Node*> nodes_;
    std::size_t place_ = 0;     // in groups_
    std::uint64_t number_ = 0;  // of all groups of all locations
  };

  // A group of its own.
  void add(Node& node);
  // It is no more; what was and will be released through it `into` has, to which nothing is linked
  // on.
  void fold(Node& node, Node& into);
  // What `from` has `to` has as well.
  void link(Node& from, Node& to);
  void release(Node& node, Channel channel, const Clock& clock);
  // What was released through it and all before it.
  [[nodiscard]] const Clock& device(Node& node, Channel channel);

  // All groups before it, or after it, and its own.
  [[nodiscard]] static std::vector<const Group*> before(const Node& node) {
    return reachable(node, &Group::before_);
  }

  [[nodiscard]] static std::vector<const Group*> after(const Node& node) {
    return reachable(node, &Group::after_);
  }

  // Clocks that were joined: what a release costs, however many values there are.
  [[nodiscard]] std::uint64_t joins() const { return joins_; }

 private:
  void join(Group& group, Channel channel, const Clock& clock);
  static std::vector<const Group*> reachable(const Node& node, Groups Group::* edges);
  static void mark_stale(const Groups& groups);
  [[nodiscard]] std::vector<Group*> circle(Group& from, Group& to);
  void refresh(Group& group);
  void merge(const std::vector<Group*>& circle);
  void take_over(Group& group, const Group& from);
  void drop(Group& group);

  std::vector<std::unique_ptr<Group>> groups_;
  std::uint64_t searches_ = 0, joins_ = 0;
};

}  // namespace barracuda::detector
