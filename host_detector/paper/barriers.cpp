#include "host_detector/paper/barriers.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.h"

namespace barracuda::detector::paper {
namespace {

bool is_complete(const BlockState& block, const BlockBarrier& barrier) {
  if (barrier.waiting == 0) {
    return false;
  }
  if (barrier.threads == 0) {
    return barrier.waiting >= block.live_threads;
  }
  std::uint64_t warps = 0;
  for (std::size_t warp = 0; warp < barrier.arrivals.size(); ++warp) {
    const std::uint32_t lanes = barrier.arrivals[warp].lanes;
    warps += lanes != 0 && (block.warps[warp].paths.alive() & ~lanes) == 0 ? 1 : 0;
  }
  return warps * wire::kWarpLanes >= barrier.threads;
}

void open(BlockState& block, BlockBarrier& barrier) {
  Clock all = std::move(barrier.given);
  for (std::size_t warp = 0; warp < barrier.arrivals.size(); ++warp) {
    all.join(block.warps[warp].paths.known_to_paths(barrier.arrivals[warp].waiting));
  }
  for (std::size_t warp = 0; warp < barrier.arrivals.size(); ++warp) {
    const std::uint32_t waiting = barrier.arrivals[warp].waiting;
    if (waiting != 0) {
      WarpState& state = block.warps[warp];
      state.paths.learn(waiting, all);
      state.paths.end_instruction(waiting);
      state.waiting &= ~waiting;
    }
  }
  barrier = BlockBarrier(barrier.arrivals.size());
}

void open_complete_warp_barriers(WarpState& warp) {
  std::erase_if(warp.warp_barriers, [&](const WarpBarrier& barrier) {
    if ((barrier.members & warp.paths.alive() & ~barrier.arrived) != 0) {
      return false;
    }
    warp.paths.learn(barrier.arrived, warp.paths.known_to_paths(barrier.arrived));
    warp.paths.end_instruction(barrier.arrived);
    return true;
  });
}

RaceAccess access_at(const EngineState& engine, const BlockState& block, const WarpState& warp,
                     std::uint32_t site, std::uint32_t lane) {
  return {.site = wire::SiteId{site},
          .call_stack = engine.stacks.calls(warp.stacks[lane]),
          .thread = {.launch = block.launch.shape.info.id,
                     .cta = block.index,
                     .warp = static_cast<std::uint8_t>(warp.paths.warp()),
                     .lane = static_cast<std::uint8_t>(lane)},
          .space = wire::AddressSpace::kShared};
}

ClusterBarrier& cluster_barrier_of(const Actor& actor) {
  LaunchState& launch = actor.block.launch;
  const auto [barrier, is_new] = launch.cluster_barriers.try_emplace(actor.block.cluster);
  for (std::uint32_t rank = 0; is_new && rank < launch.shape.ctas_per_cluster; ++rank) {
    const auto member = launch.shape.cta_of_rank(actor.block.index, rank);
    if (member && !launch.is_finished(*member)) {
      const auto known = launch.blocks.find(*member);
      barrier->second.live_threads +=
          known != launch.blocks.end() ? known->second->live_threads : launch.shape.threads_per_cta;
    }
  }
  return barrier->second;
}

void open_if_complete(ClusterBarrier& barrier) {
  if (barrier.arrived != 0 && barrier.arrived >= barrier.live_threads) {
    barrier.complete = std::exchange(barrier.given, Clock());
    barrier.arrived = 0;
  }
}

std::uint64_t count(std::uint32_t lanes) {
  return static_cast<std::uint64_t>(std::popcount(lanes));
}

}  // namespace

void Barriers::report(const BlockState& block, const WarpState& warp, const Divergent& divergent,
                      const RaceAccess* elsewhere) {
  BarrierDivergence divergence{
      .launch = block.launch.shape.info.id,
      .cta = block.index,
      .barrier = divergent.barrier,
      .arrived = access_at(engine_, block, warp, divergent.site, divergent.lane)};
  if (elsewhere != nullptr) {
    divergence.elsewhere.push_back(*elsewhere);
  }
  engine_.log.add(std::move(divergence));
}

// BAR demands that all threads of the block are active. Barriers that came later may be executed
// by lanes apart; they are not aligned.
void Barriers::watch_for_divergence(const Actor& actor, const WarpOperation& operation) {
  const auto site = static_cast<std::uint32_t>(operation.site);
  see_missing(actor, operation.mask, site);
  if (!engine_.site(site).aligned || actor.warp.divergent) {
    return;
  }
  const std::uint32_t lane = first_lane(operation.mask);
  const Inactive inactive = actor.warp.paths.inactive(lane);
  if (inactive.lanes != 0) {
    actor.warp.divergent = Divergent{
        .barrier = operation.event_operand, .site = site, .lane = lane, .missing = inactive.lanes};
  }
}

void Barriers::see_missing(const Actor& actor, std::uint32_t lanes, std::uint32_t site) {
  std::optional<Divergent>& divergent = actor.warp.divergent;
  if (!divergent || (divergent->missing & lanes) == 0) {
    return;
  }
  const RaceAccess elsewhere =
      access_at(engine_, actor.block, actor.warp, site, first_lane(divergent->missing & lanes));
  report(actor.block, actor.warp, *divergent, &elsewhere);
  divergent.reset();
}

void Barriers::block_barrier(const Actor& actor, const WarpOperation& operation, bool waits) {
  BlockState& block = actor.block;
  BlockBarrier& barrier =
      block.barriers.try_emplace(operation.event_operand, block.warps.size()).first->second;
  const std::uint32_t lanes = operation.mask;
  BlockBarrier::Arrival& arrival = barrier.arrivals[actor.warp.paths.warp()];
  if (waits) {
    watch_for_divergence(actor, operation);
  }
  arrival.site = arrival.lanes == 0 ? static_cast<std::uint32_t>(operation.site) : arrival.site;
  arrival.lanes |= lanes;
  barrier.threads = operation.event_count;
  if (waits) {
    arrival.waiting |= lanes;
    barrier.waiting += count(lanes);
    actor.warp.waiting |= lanes;
  } else {
    barrier.given.join(actor.warp.paths.known_to_paths(lanes));
  }
  DEBUG_ASSERT(barrier.is_valid());
  if (is_complete(block, barrier)) {
    open(block, barrier);
  }
}

void Barriers::warp_barrier(const Actor& actor, std::uint32_t lanes, std::uint32_t members) {
  std::vector<WarpBarrier>& barriers = actor.warp.warp_barriers;
  auto barrier = std::ranges::find(barriers, members, &WarpBarrier::members);
  if (barrier == barriers.end()) {
    barrier = barriers.insert(barrier, {.members = members});
  }
  barrier->arrived |= lanes;
  open_complete_warp_barriers(actor.warp);
}

void Barriers::cluster_arrive(const Actor& actor, std::uint32_t lanes, bool gives) {
  ClusterBarrier& barrier = cluster_barrier_of(actor);
  if (gives) {
    barrier.given.join(actor.warp.paths.known_to_paths(lanes));
  }
  barrier.arrived += count(lanes);
  open_if_complete(barrier);
}

void Barriers::cluster_wait(const Actor& actor, std::uint32_t lanes) {
  actor.warp.paths.learn(lanes, cluster_barrier_of(actor).complete);
}

void Barriers::open_what_held(const Actor& actor, std::uint32_t lanes) {
  WarpState& warp = actor.warp;
  std::erase_if(warp.warp_barriers, [&](const WarpBarrier& barrier) {
    if ((barrier.arrived & lanes) == 0) {
      return false;
    }
    warp.paths.learn(barrier.arrived, warp.paths.known_to_paths(barrier.arrived));
    warp.paths.end_instruction(barrier.arrived);
    return true;
  });
  if ((warp.waiting & lanes) == 0) {
    return;
  }
  for (auto& [id, barrier] : actor.block.barriers) {
    if ((barrier.arrivals[warp.paths.warp()].waiting & lanes) != 0) {
      open(actor.block, barrier);
    }
  }
}

void Barriers::exit(const Actor& actor, std::uint32_t lanes, std::uint32_t site) {
  see_missing(actor, lanes, site);
  BlockState& block = actor.block;
  actor.warp.paths.exit(lanes);
  ASSERT(block.live_threads >= count(lanes) && block.launch.live_threads >= count(lanes));
  block.live_threads -= count(lanes);
  block.launch.live_threads -= count(lanes);
  for (auto& [id, barrier] : block.barriers) {
    if (is_complete(block, barrier)) {
      open(block, barrier);
    }
  }
  open_complete_warp_barriers(actor.warp);
  std::map<std::uint32_t, ClusterBarrier>& of_clusters = block.launch.cluster_barriers;
  const auto cluster = of_clusters.find(block.cluster);
  if (cluster != of_clusters.end()) {
    ASSERT(cluster->second.live_threads >= count(lanes));
    cluster->second.live_threads -= count(lanes);
    open_if_complete(cluster->second);
    if (cluster->second.live_threads == 0) {
      of_clusters.erase(cluster);
    }
  }
}

void Barriers::report_waiting(const BlockState& block) {
  std::uint64_t waiting = 0;
  for (const WarpState& warp : block.warps) {
    waiting += count(warp.waiting);
    if (warp.divergent) {
      report(block, warp, *warp.divergent, nullptr);
    }
  }
  if (waiting == 0 || waiting != block.live_threads) {
    return;  // somebody was still running: the barrier might have opened
  }
  std::optional<BarrierDivergence> divergence;
  for (const auto& [id, barrier] : block.barriers) {
    for (std::size_t warp = 0; warp < barrier.arrivals.size(); ++warp) {
      const BlockBarrier::Arrival& arrival = barrier.arrivals[warp];
      if (arrival.waiting == 0) {
        continue;
      }
      RaceAccess at =
          access_at(engine_, block, block.warps[warp], arrival.site, first_lane(arrival.waiting));
      if (!divergence) {
        divergence = BarrierDivergence{.launch = block.launch.shape.info.id,
                                       .cta = block.index,
                                       .barrier = id,
                                       .arrived = std::move(at)};
      } else if (at.site != divergence->arrived.site) {
        divergence->elsewhere.push_back(std::move(at));
      }
    }
  }
  if (divergence) {
    engine_.log.add(std::move(*divergence));
  }
}

}  // namespace barracuda::detector::paper
