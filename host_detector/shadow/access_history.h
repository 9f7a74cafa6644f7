// The accesses to a few bytes that later ones must be compared with. Where many threads only read,
// or only do atomics that never conflict with each other, those are a shared set.
#pragma once

#include <algorithm>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "host_detector/shadow/shared_access_set.h"

namespace barracuda::detector {

using Cells = boost::container::small_vector<Cell, 1>;

struct AccessHistory {
  // More than a block has before it is split (Block::kSplitAt): words have shared sets of their
  // own, and only wide accesses gather in one for the block.
  static constexpr std::size_t kGatherAt = 16;

  Cells cells;
  std::vector<SharedAccessSet> shared_sets;  // at most one of a kind

  [[nodiscard]] bool is_empty() const { return cells.empty() && shared_sets.empty(); }

  [[nodiscard]] bool is_valid() const {
    std::uint32_t kinds = 0;
    for (const SharedAccessSet& shared_set : shared_sets) {
      const std::uint32_t kind = 1U << static_cast<unsigned>(shared_set.kind());
      if ((kinds & kind) != 0 || shared_set.kind() == SharedAccessKind::kNone ||
          !shared_set.is_valid()) {
        return false;
      }
      kinds |= kind;
    }
    return std::ranges::all_of(cells, &Cell::is_valid);
  }

  // Calls visit(cell).
  template <typename Visit>
  void look_at(Visit visit) const {
    std::ranges::for_each(cells, visit);
    for (const SharedAccessSet& shared_set : shared_sets) {
      shared_set.look_at(visit);
    }
  }

  [[nodiscard]] SharedAccessSet* shared_set(SharedAccessKind kind) {
    const auto place = std::ranges::find(shared_sets, kind, &SharedAccessSet::kind);
    return place == shared_sets.end() ? nullptr : &*place;
  }
};

}  // namespace barracuda::detector
