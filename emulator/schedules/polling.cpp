#include "emulator/schedules/polling.h"

#include <algorithm>

#include "emulator/execute/observed.h"

namespace barracuda::emulator {

namespace {

template <typename Predicate>
bool all_warps(const Cluster& cluster, const Predicate& holds) {
  return std::ranges::all_of(cluster.ctas, [&](const auto& cta) {
    return std::ranges::all_of(cta->warps,
                               [&](const auto& warp) { return warp->live == 0 || holds(*warp); });
  });
}

bool warp_only_polls(Warp& warp, std::uint64_t changes) {
  std::uint32_t ready = 0;
  for (const Fragment& fragment : warp.fragments) {
    ready |= fragment.state == FragmentState::kReady ? fragment.mask : 0;
  }
  if (has_complete_collective(warp)) {
    return false;
  }
  return ready == 0 || (warp.watch != nullptr && warp.watch->is_polling(ready, changes));
}

}  // namespace

void observe(Context& context, bool wanted) {
  context.observer = wanted ? &execute_observed : nullptr;
}

void forget_observations(Cluster& cluster) {
  cluster.changes_before = cluster.changes;
  for (const auto& cta : cluster.ctas) {
    for (const auto& warp : cta->warps) {
      if (warp->watch != nullptr) {
        warp->watch->reset();
      }
    }
  }
}

bool only_polls(const Cluster& cluster) {
  return all_warps(cluster, [&](Warp& warp) { return warp_only_polls(warp, cluster.changes); });
}

bool is_outdated(const Cluster& cluster, const Memory& memory) {
  return !all_warps(cluster, [&](const Warp& warp) {
    return warp.watch == nullptr || !warp.watch->is_outdated(memory);
  });
}

}  // namespace barracuda::emulator
