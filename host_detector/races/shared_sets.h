// Shared sets: the many concurrent cells of one kind that a busy word collects, kept by warp.
#pragma once

#include "host_detector/races/access.h"

namespace barracuda::detector {

[[nodiscard]] SharedAccessKind kind_of_atomic(const wire::SiteInfo& site);

// A strong load of the whole device is of one kind with atomics of its size: no two of these
// conflict (RACE_RULES section 2; of volatile accesses only stores do). So a poll need not look at
// all that arrived at a barrier, nor an arrival at all that polled.
[[nodiscard]] SharedAccessKind kind_of_read(const wire::SiteInfo& site);

// Of which set the cell is, if of any.
[[nodiscard]] inline SharedAccessKind shared_access_kind(const wire::SiteInfo& site,
                                                         const Cell& cell) {
  if (!cell.writes()) {
    return site.order == wire::MemoryOrder::kWeak || cell.is_asynchronous() || cell.is_of_mbarrier()
               ? SharedAccessKind::kReads
               : kind_of_read(site);
  }
  return !cell.reads() || cell.is_asynchronous() || cell.is_of_mbarrier() ? SharedAccessKind::kNone
                                                                          : kind_of_atomic(site);
}

// The two never conflict, whichever threads make them. `newer` is a part of the access.
[[nodiscard]] bool is_of_one_set(const PlacedPiece& access, const Cell& older, const Cell& newer);

// Of the older accesses that would be in one shared set with it, those that it has nothing to do
// with.
constexpr PassesBy passes_by(SharedAccessKind kind) {
  return kind == SharedAccessKind::kNone    ? PassesBy::kNobody
         : kind == SharedAccessKind::kReads ? PassesBy::kOtherCtas
                                            : PassesBy::kOtherWarps;
}

void add_to_set(const EngineState& engine, SharedAccessSet& shared_set, const Cell& cell);

// Moves the cells of the commonest kind to their shared set.
void gather_set(const EngineState& engine, AccessHistory& history);

}  // namespace barracuda::detector
