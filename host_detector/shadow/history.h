// The accesses to a few bytes that later ones must be held against. Where many threads only read,
// or only do atomics that never conflict with each other, those are a crowd: a list that is only
// added to, and looked through only by accesses that may conflict with it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

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

  // Newer ones may stand for older ones of their warp until compact().
  [[nodiscard]] Entries& entries() { return entries_; }

  [[nodiscard]] const Entries& entries() const { return entries_; }

  // The last few: accesses of these warps interleave now.
  [[nodiscard]] std::span<Entry> recent() {
    return std::span(entries_).last(std::min(entries_.size(), kRecent));
  }

  // It has doubled since the last time, so that compacting costs no more than adding did.
  [[nodiscard]] bool should_compact() const { return entries_.size() >= compact_at_; }

  // Drops what cut(newer, older), for two entries of one warp, leaves no byte of.
  template <typename Cut>
  void compact(Cut cut);

  // Launches of which no entry may be left: entries of launches before this one were looked
  // through.
  [[nodiscard]] LaunchId launch() const { return launch_; }

  void set_launch(LaunchId launch) { launch_ = launch; }

 private:
  static constexpr std::size_t kRecent = 8;
  static constexpr std::size_t kLeastCompacted = 64;

  CrowdKind kind_;
  LaunchId launch_{};
  std::size_t compact_at_ = kLeastCompacted;
  Entries entries_;
};

template <typename Cut>
void Crowd::compact(Cut cut) {
  const auto warp_of = [](const Entry& entry) { return std::pair(entry.cta, entry.warp); };
  std::ranges::stable_sort(
      entries_, {}, [&](const Entry& entry) { return std::pair(warp_of(entry), entry.tick); });
  std::size_t kept = entries_.size();  // those from here on are; newest first within a warp
  for (std::size_t index = entries_.size(); index-- > 0;) {
    Entry& older = entries_[index];
    for (std::size_t newer = kept; newer < entries_.size() && !older.bytes.none() &&
                                   warp_of(entries_[newer]) == warp_of(older);
         ++newer) {
      cut(entries_[newer], older);
    }
    if (!older.bytes.none()) {
      entries_[--kept] = older;
    }
  }
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(kept));
  entries_.shrink_to_fit();
  compact_at_ = std::max(kLeastCompacted, entries_.size() * 2);
}

struct History {
  static constexpr std::size_t kCrowdAt = 8;  // entries; more than a block that is not split has

  Entries entries;
  std::vector<Crowd> crowds;  // at most one of a kind

  [[nodiscard]] bool is_empty() const { return entries.empty() && crowds.empty(); }

  // Calls visit(entry).
  template <typename Visit>
  void look_at(Visit visit) const {
    std::ranges::for_each(entries, visit);
    for (const Crowd& crowd : crowds) {
      std::ranges::for_each(crowd.entries(), visit);
    }
  }

  [[nodiscard]] Crowd* crowd(CrowdKind kind) {
    const auto place = std::ranges::find(crowds, kind, &Crowd::kind);
    return place == crowds.end() ? nullptr : &*place;
  }
};

}  // namespace barracuda::detector
