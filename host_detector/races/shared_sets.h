// Shared sets: the many concurrent cells of one kind that a busy word collects, kept by warp.
#pragma once

#include "host_detector/races/access.h"

namespace barracuda::detector {

[[nodiscard]] SharedAccessKind kind_of_atomic(const wire::SiteInfo& site);

// Of which set the cell is, if of any.
[[nodiscard]] inline SharedAccessKind shared_access_kind(const wire::SiteInfo& site,
                                                         const Cell& cell) {
  if (!cell.writes()) {
    return SharedAccessKind::kReads;
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
