// Shared sets: the many concurrent cells of one kind that a busy word collects, kept by warp.
#include <algorithm>
#include <array>

#include "host_detector/races/access.h"

namespace barracuda::detector {

SharedAccessKind AccessCheck::shared_access_kind(const Cell& cell) const {
  if (!cell.writes()) {
    return SharedAccessKind::kReads;
  }
  const wire::SiteInfo& site = engine_.site(cell.site);
  if (!cell.reads() || cell.is_asynchronous() || cell.is_of_mbarrier() ||
      site.order == wire::MemoryOrder::kWeak || site.order == wire::MemoryOrder::kVolatile ||
      site.scope < wire::Scope::kGpu) {
    return SharedAccessKind::kNone;
  }
  switch (site.element_bytes) {
    case 1:
      return SharedAccessKind::kAtomics1;
    case 2:
      return SharedAccessKind::kAtomics2;
    case 4:
      return SharedAccessKind::kAtomics4;
    case 8:
      return SharedAccessKind::kAtomics8;
    default:
      return SharedAccessKind::kNone;
  }
}

// The two never conflict, whoever makes them.
bool AccessCheck::is_of_shared_set(const Access& access, const Cell& older,
                                   const Cell& cell) const {
  const bool is_alike = older.site == cell.site && older.flags == cell.flags;
  return access.kind != SharedAccessKind::kNone &&
         (is_alike || shared_access_kind(older) == access.kind);
}

// True if `cell` was recorded there.
bool AccessCheck::check_against_set(Access& access, SharedAccessSet& shared_set, const Cell& cell,
                                    bool records) {
  const LaunchId launch = access.actor.launch();
  const bool is_one_of_them = shared_set.kind() == access.kind;
  if (!is_one_of_them ||
      (shared_set.launch() != launch && engine_.order.is_before(shared_set.launch(), launch))) {
    shared_set.set_launch(launch);
    shared_set.update([&](Cell& older) {
      if (!(older.bytes & cell.bytes).none()) {
        check_against_cell(access, older, cell);
      }
    });
  }
  if (records && is_one_of_them) {
    add_to_set(shared_set, cell);
  }
  return records && is_one_of_them;
}

void AccessCheck::add_to_set(SharedAccessSet& shared_set, const Cell& cell) const {
  const bool is_there = shared_set.any_recent_of_warp(cell, [&](Cell& recent) {
    if (recent.merge(cell)) {
      return true;
    }
    cut_to_newer(cell, recent);
    if (!recent.bytes.none()) {
      return false;
    }
    recent = cell;
    return true;
  });
  if (is_there) {
    return;
  }
  shared_set.add(cell);
  if (shared_set.should_compact()) {
    shared_set.compact([&](const Cell& newer, Cell& older) { cut_to_newer(newer, older); });
  }
}

// Of one warp: what lanes did again later need not be kept.
void AccessCheck::cut_to_newer(const Cell& newer, Cell& older) const {
  if (newer.is_asynchronous() || older.is_asynchronous() ||
      !may_replace(side_of(newer), side_of(older))) {
    return;
  }
  if (newer.lanes != 0 && older.lanes != 0 && older.bytes.within(newer.bytes)) {
    if ((older.lanes & ~newer.lanes) != 0) {
      older.lanes &= ~newer.lanes;
    } else {
      older.bytes = Bytes{};
    }
  } else if (newer.maps_lanes_like(older)) {
    older.bytes = older.bytes & ~newer.bytes;
  }
}

// Of accesses of one site that all race with each other, more tell nothing new: a word that is
// written without order again and again must not keep one of each thread.
bool AccessCheck::is_one_too_many(const Access& access, const AccessHistory& history,
                                  const Cell& cell) {
  const bool races_everywhere = access.mode == Mode::kRecord
                                    ? cell.lanes != 0 && (cell.lanes & ~access.saturated_lanes) == 0
                                    : access.racing_sites.has_enough_everywhere_of(cell.site);
  if (!races_everywhere) {
    return false;
  }
  std::uint32_t of_site = 0, of_warp = 0;
  for (const Cell& kept : history.cells) {
    if (kept.site == cell.site) {
      ++of_site;
      of_warp += kept.cta == cell.cta && kept.warp == cell.warp ? 1 : 0;
    }
  }
  return of_site >= kMostOfSite || of_warp >= kMostOfWarp;
}

// Moves the cells of the commonest kind to their shared set.
void AccessCheck::gather_set(AccessHistory& history) const {
  std::array<std::size_t, kSharedAccessKinds> counts{};
  for (const Cell& cell : history.cells) {
    ++counts[static_cast<std::size_t>(shared_access_kind(cell))];
  }
  counts[static_cast<std::size_t>(SharedAccessKind::kNone)] = 0;
  const auto most = std::ranges::max_element(counts);
  if (*most * 2 <= AccessHistory::kGatherAt) {
    return;
  }
  const auto kind = static_cast<SharedAccessKind>(most - counts.begin());
  SharedAccessSet* shared_set = history.shared_set(kind);
  if (shared_set == nullptr) {
    shared_set = &history.shared_sets.emplace_back(kind);
  }
  const auto left =
      std::remove_if(history.cells.begin(), history.cells.end(), [&](const Cell& cell) {
        if (shared_access_kind(cell) != kind) {
          return false;
        }
        shared_set->set_launch(std::max(shared_set->launch(), cell.launch()));
        shared_set->add(cell);
        return true;
      });
  history.cells.erase(left, history.cells.end());
  history.cells.shrink_to_fit();
}

}  // namespace barracuda::detector
