// The accesses to a few bytes that later ones must be held against. Where many threads only read,
// or only do atomics that never conflict with each other, those are a crowd: found by warp, and
// looked through only by accesses that may conflict with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/shadow/entry.h"

namespace barracuda::detector {

// Accesses of one kind never conflict with each other, whoever makes them.
enum class CrowdKind : std::uint8_t {
  kNone,
  kReads,
  kAtomics1,
  kAtomics2,
  kAtomics4,
  kAtomics8,  // strong, of this many bytes, for the whole device
};

inline constexpr std::size_t kCrowdKinds = 6;

using Entries = boost::container::small_vector<Entry, 1>;

class Crowd {
 public:
  explicit Crowd(CrowdKind kind) : kind_(kind) {}

  [[nodiscard]] CrowdKind kind() const { return kind_; }

  [[nodiscard]] Entries& of_warp(const Entry& entry) {
    return entries_[{.cta = entry.cta, .warp = entry.warp}];
  }

  [[nodiscard]] std::size_t warps() const { return entries_.size(); }

  // Calls visit(entries) for every warp's; those it leaves empty are dropped.
  template <typename Visit>
  void for_each(Visit visit) {
    for (auto& each : entries_) {
      visit(each.second);
    }
    erase_if(entries_, [](const auto& each) { return each.second.empty(); });
  }

  // Calls visit(entry).
  template <typename Visit>
  void look_at(Visit visit) const {
    for (const auto& each : entries_) {
      std::ranges::for_each(each.second, visit);
    }
  }

  // Launches of which no entry may be left: entries of launches before this one were looked
  // through.
  [[nodiscard]] LaunchId launch() const { return launch_; }

  void set_launch(LaunchId launch) { launch_ = launch; }

 private:
  struct Warp {
    CtaKey cta{};
    std::uint8_t warp = 0;
    friend bool operator==(const Warp&, const Warp&) = default;

    friend std::size_t hash_value(const Warp& warp) {
      return static_cast<std::size_t>((static_cast<std::uint64_t>(warp.cta) * 32 + warp.warp) *
                                      0x9E3779B97F4A7C15ULL);
    }
  };

  CrowdKind kind_;
  LaunchId launch_{};
  boost::unordered_flat_map<Warp, Entries> entries_;
};

struct History {
  static constexpr std::size_t kCrowdAt = 6;  // entries

  Entries entries;
  std::vector<Crowd> crowds;  // at most one of a kind

  [[nodiscard]] bool is_empty() const { return entries.empty() && crowds.empty(); }

  // Calls visit(entry).
  template <typename Visit>
  void look_at(Visit visit) const {
    std::ranges::for_each(entries, visit);
    for (const Crowd& crowd : crowds) {
      crowd.look_at(visit);
    }
  }

  [[nodiscard]] Crowd* crowd(CrowdKind kind) {
    const auto place = std::ranges::find(crowds, kind, &Crowd::kind);
    return place == crowds.end() ? nullptr : &*place;
  }
};

}  // namespace barracuda::detector
