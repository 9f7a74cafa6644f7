// The accesses to a few bytes that later ones must be held against. Where many threads only read,
// or only do atomics that never conflict with each other, those are a crowd.
#pragma once

#include <algorithm>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "host_detector/shadow/crowd.h"

namespace barracuda::detector {

using Entries = boost::container::small_vector<Entry, 1>;

struct History {
  // More than a block has before it is split (Block::kSplitAt): words have crowds of their own, and
  // only wide accesses gather in one for the block.
  static constexpr std::size_t kCrowdAt = 16;

  Entries entries;
  std::vector<Crowd> crowds;  // at most one of a kind

  [[nodiscard]] bool is_empty() const { return entries.empty() && crowds.empty(); }

  [[nodiscard]] bool is_valid() const {
    std::uint32_t kinds = 0;
    for (const Crowd& crowd : crowds) {
      const std::uint32_t kind = 1U << static_cast<unsigned>(crowd.kind());
      if ((kinds & kind) != 0 || crowd.kind() == CrowdKind::kNone || !crowd.is_valid()) {
        return false;
      }
      kinds |= kind;
    }
    return std::ranges::all_of(entries, &Entry::is_valid);
  }

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
