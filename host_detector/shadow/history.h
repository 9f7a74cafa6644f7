// The accesses to a few bytes that later ones must be held against. Where many threads only read,
// or only do atomics that never conflict with each other, those are a crowd: a list that is only
// added to, and looked through only by accesses that may conflict with it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
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

  void add(const Entry& entry);
  // Calls visit(older) for entries of its warp among the last few, since accesses of a few warps
  // interleave, until that returns true; true if it did.
  template <typename Visit>
  [[nodiscard]] bool any_recent_of_warp(const Entry& entry, Visit visit);

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
  static constexpr std::uint64_t kNoWarp = ~std::uint64_t{0};

  static std::uint64_t warp_number(const Entry& entry) {
    return static_cast<std::uint64_t>(entry.cta) * wire::kWarpLanes + entry.warp;
  }

  CrowdKind kind_;
  LaunchId launch_{};
  std::size_t compact_at_ = kLeastCompacted;
  Entries entries_;
  // Of entry i at i % kRecent, so that looking for one's own reads no other's; none is valid
  // unless there are as many entries as when the last was added.
  std::array<std::uint64_t, kRecent> recent_warps_{};
  std::size_t size_then_ = 0;
};

inline void Crowd::add(const Entry& entry) {
  if (entries_.size() != size_then_) {
    recent_warps_.fill(kNoWarp);
  }
  recent_warps_[entries_.size() % kRecent] = warp_number(entry);
  entries_.push_back(entry);
  size_then_ = entries_.size();
}

template <typename Visit>
bool Crowd::any_recent_of_warp(const Entry& entry, Visit visit) {
  const std::uint64_t warp = warp_number(entry);
  const std::size_t count = entries_.size() == size_then_ ? std::min(size_then_, kRecent) : 0;
  for (std::size_t index = size_then_ - count; index < size_then_; ++index) {
    if (recent_warps_[index % kRecent] == warp && visit(entries_[index])) {
      return true;
    }
  }
  return false;
}

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
  recent_warps_.fill(kNoWarp);  // the entries have moved
  compact_at_ = std::max(kLeastCompacted, entries_.size() * 2);
}

struct History {
  // More than a block has before it is split (Block::kSplitAt): words have crowds of their own, and
  // only wide accesses gather in one for the block.
  static constexpr std::size_t kCrowdAt = 16;

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
