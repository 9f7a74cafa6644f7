#include "host_detector/races/shared_sets.h"

#include <algorithm>
#include <array>

#include "device_logger/scope_order.h"
#include "host_detector/races/replacement.h"

namespace barracuda::detector {

namespace {

SharedAccessKind kind_of_strong(const wire::SiteInfo& site) {
  if (site.order == wire::MemoryOrder::kWeak || !includes(site.scope, wire::Scope::kGpu)) {
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

}  // namespace

SharedAccessKind kind_of_atomic(const wire::SiteInfo& site) {
  return site.order == wire::MemoryOrder::kVolatile ? SharedAccessKind::kNone
                                                    : kind_of_strong(site);
}

SharedAccessKind kind_of_read(const wire::SiteInfo& site) {
  const bool is_generic = site.proxy == wire::Proxy::kGeneric && !site.speculated;
  const SharedAccessKind kind = is_generic ? kind_of_strong(site) : SharedAccessKind::kNone;
  return kind == SharedAccessKind::kNone ? SharedAccessKind::kReads : kind;
}

bool is_of_one_set(const PlacedPiece& access, const Cell& older, const Cell& newer) {
  const SharedAccessKind kind = access.piece.kind;
  const bool is_alike = older.site == newer.site && older.flags == newer.flags;
  return kind != SharedAccessKind::kNone &&
         (is_alike || shared_access_kind(access.engine().site(older.site), older) == kind);
}

void add_to_set(const EngineState& engine, SharedAccessSet& shared_set, const Cell& cell) {
  const bool may_be_there = shared_set.may_have_warp_of(cell);
  const bool is_there = may_be_there && shared_set.any_recent_of_warp(cell, [&](Cell& recent) {
    if (recent.merge(cell)) {
      return true;
    }
    recent = left_in_set(engine, recent, cell);
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
    shared_set.compact(
        [&](const Cell& newer, Cell& older) { older = left_in_set(engine, older, newer); });
  }
}

void gather_set(const EngineState& engine, AccessHistory& history) {
  const auto kind_of = [&](const Cell& cell) {
    return shared_access_kind(engine.site(cell.site), cell);
  };
  std::array<std::size_t, kSharedAccessKinds> counts{};
  for (const Cell& cell : history.cells) {
    ++counts[static_cast<std::size_t>(kind_of(cell))];
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
  const auto moved = std::ranges::remove_if(history.cells, [&](const Cell& cell) {
    if (kind_of(cell) != kind) {
      return false;
    }
    shared_set->set_launch(std::max(shared_set->launch(), cell.launch()));
    shared_set->add(cell);
    return true;
  });
  history.cells.erase(moved.begin(), moved.end());
  history.cells.shrink_to_fit();
}

}  // namespace barracuda::detector
