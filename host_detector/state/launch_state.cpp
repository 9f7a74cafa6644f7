#include "host_detector/state/launch_state.h"

#include <algorithm>
#include <utility>

namespace barracuda::detector {

CtaState::CtaState(LaunchState& of, std::uint32_t cta)
    : launch(of),
      index(cta),
      cluster(of.cluster_of(cta)),
      key(CtaKey(of.info.id, cta)),
      live_threads(of.threads_per_cta) {
  Clock initial(key);
  initial.join(of.initial);
  warps.reserve(of.warps_per_cta);
  for (std::uint32_t warp = 0; warp < of.warps_per_cta; ++warp) {
    const std::uint32_t left = of.threads_per_cta - warp * wire::kWarpLanes;
    const std::uint32_t lanes =
        left >= wire::kWarpLanes ? kAllLanes : (std::uint32_t{1} << left) - 1;
    warps.emplace_back(key, warp, lanes, initial);
  }
}

void CtaState::observe(std::uint32_t warp, const WarpObservation& observation) {
  constexpr std::size_t kKept = 16, kMost = 64;
  observations.resize(warps.size());
  std::vector<WarpObservation>& of_warp = observations[warp];
  std::erase_if(of_warp, [&](const WarpObservation& older) {
    return older.tagged == observation.tagged && (older.lanes & ~observation.lanes) == 0;
  });
  // Lanes that look at a flag each do not push out what the others saw.
  if (of_warp.size() >= kKept) {
    std::uint32_t newer = observation.lanes;
    std::for_each(of_warp.begin() + 1, of_warp.end(),
                  [&](const WarpObservation& other) { newer |= other.lanes; });
    if (of_warp.size() == kMost || (of_warp.front().lanes & ~newer) == 0) {
      of_warp.erase(of_warp.begin());
    }
  }
  of_warp.push_back(observation);
}

LaunchState::LaunchState(const LaunchInfo& launch_info)
    : LaunchShape(launch_info), live_ctas_(launch_info.grid.volume()) {}

std::unique_ptr<CtaState> LaunchState::Shard::finish(std::uint32_t cta) {
  const std::size_t index = cta / kShards;
  if (finished.size() <= index) {
    finished.resize(index + 1);
  }
  finished[index] = true;
  const auto place = ctas.find(cta);
  if (place == ctas.end()) {
    return nullptr;
  }
  std::unique_ptr<CtaState> gone = std::move(place->second);
  ctas.erase(place);
  return gone;
}

CtaState* LaunchState::find_cta(std::uint32_t cta) {
  Shard& shard = shard_of(cta);
  {
    const Lock lock(shard.mutex);
    if (CtaState* const known = shard.find(cta)) {
      return known;
    }
    if (cta >= info.grid.volume() || shard.is_finished(cta)) {
      return nullptr;
    }
  }
  auto made = std::make_unique<CtaState>(*this, cta);
  const Lock lock(shard.mutex);
  return shard.ctas.emplace(cta, std::move(made)).first->second.get();
}

const CtaState* LaunchState::known_cta(std::uint32_t cta) const {
  const Shard& shard = shard_of(cta);
  const Lock lock(shard.mutex);
  return shard.find(cta);
}

bool LaunchState::is_untouched(std::uint32_t cta) const {
  const Shard& shard = shard_of(cta);
  const Lock lock(shard.mutex);
  return cta < info.grid.volume() && shard.find(cta) == nullptr && !shard.is_finished(cta);
}

bool LaunchState::exit_untouched(std::uint32_t cta) {
  DEBUG_ASSERT(is_untouched(cta) && !has_clusters());
  Shard& shard = shard_of(cta);
  {
    const Lock lock(shard.mutex);
    shard.finish(cta);
  }
  return --live_ctas_ == 0;
}

bool LaunchState::exit_others(std::uint32_t ctas) {
  std::uint64_t live = live_ctas_;
  while (live > ctas) {
    if (live_ctas_.compare_exchange_weak(live, live - ctas)) {
      return true;
    }
  }
  return false;
}

std::optional<SyncNotes> LaunchState::notes_of(std::uint32_t cta, std::uint32_t warp) const {
  const Shard& shard = shard_of(cta);
  const Lock lock(shard.mutex);  // as long as it is looked at, it is there
  const CtaState* const known = shard.find(cta);
  if (known == nullptr || warp >= known->warps.size()) {
    return std::nullopt;
  }
  return known->warps[warp].sync_notes.seen_from_outside();
}

std::optional<BlockEnd> LaunchState::end_of(std::uint32_t cta) const {
  const Shard& shard = shard_of(cta);
  const Lock lock(shard.mutex);
  const auto known = shard.ends.find(cta);
  return known == shard.ends.end() ? std::nullopt : std::optional(known->second);
}

ClusterBarrier& LaunchState::cluster_barrier(const CtaState& cta) {
  const std::lock_guard lock(cluster_mutex_);
  return cluster_barriers_.try_emplace(cta.cluster, live_threads_of_cluster(cta.index))
      .first->second;
}

bool LaunchState::exit(CtaState& cta, WarpState& warp, std::uint32_t lanes) {
  if (has_clusters()) {
    exit_cluster(cta, warp, lanes);
  }
  if (cta.live_threads != 0) {
    return false;
  }
  std::unique_ptr<CtaState> gone;  // outlives the lock: there may be much to free
  Shard& shard = shard_of(cta.index);
  {
    const Lock lock(shard.mutex);
    if (cta.end) {
      shard.ends.insert_or_assign(cta.index, *cta.end);
    }
    gone = shard.finish(cta.index);
  }
  return --live_ctas_ == 0;
}

void LaunchState::exit_cluster(const CtaState& cta, WarpState& warp, std::uint32_t lanes) {
  const std::lock_guard lock(cluster_mutex_);
  const auto barrier = cluster_barriers_.find(cta.cluster);
  if (barrier != cluster_barriers_.end()) {
    barrier->second.on_exit(warp, lanes);
    if (barrier->second.is_over()) {
      cluster_barriers_.erase(barrier);
    }
  }
}

void LaunchState::learn(const Clock& learnt) {
  const std::lock_guard lock(final_mutex_);
  if (!final_.covers(learnt)) {
    final_.join(learnt);
  }
}

std::uint64_t LaunchState::live_threads_of_cluster(std::uint32_t cta) const {
  std::uint64_t threads = 0;
  for (std::uint32_t rank = 0; rank < ctas_per_cluster; ++rank) {
    const std::optional<std::uint32_t> member = cta_of_rank(cta, rank);
    if (!member) {
      continue;
    }
    const Shard& shard = shard_of(*member);
    const Lock lock(shard.mutex);
    if (!shard.is_finished(*member)) {
      const CtaState* const known = shard.find(*member);
      threads += known != nullptr ? known->live_threads : threads_per_cta;
    }
  }
  return threads;
}

}  // namespace barracuda::detector
