#include "host_detector/races/divergence.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace barracuda::detector {
namespace {

// The first of `lanes` of a warp, at a barrier.
RaceAccess at_barrier(const EngineState& engine, const CtaState& cta, std::uint32_t site,
                      std::uint32_t warp, std::uint32_t lanes) {
  const std::uint32_t lane = first_lane(lanes);
  return {.site = wire::SiteId{site},
          .call_stack = engine.stacks.calls(cta.warps[warp].stack(lane)),
          .thread = {.launch = cta.launch.info.id,
                     .cta = cta.index,
                     .warp = static_cast<std::uint8_t>(warp),
                     .lane = static_cast<std::uint8_t>(lane)},
          .space = wire::AddressSpace::kShared};
}

std::uint32_t lanes_at_first(const CtaState& cta, std::uint32_t warp) {
  const std::uint32_t left = cta.launch.threads_per_cta - warp * wire::kWarpLanes;
  return left >= wire::kWarpLanes ? kAllLanes : (std::uint32_t{1} << left) - 1;
}

// A box of thread indices that has these lanes, and no other one of the warp.
bool is_box(const CtaState& cta, std::uint32_t warp, std::uint32_t lanes) {
  const Dim3& block = cta.launch.info.block;
  const auto index_of_lane = [&](std::uint32_t lane) {
    const std::uint32_t thread = warp * wire::kWarpLanes + lane;
    return Dim3{
        .x = thread % block.x, .y = thread / block.x % block.y, .z = thread / block.x / block.y};
  };
  Dim3 low = index_of_lane(first_lane(lanes)), high = low;
  for (const std::uint32_t lane : SetBits(lanes)) {
    const Dim3 at = index_of_lane(lane);
    low = {.x = std::min(low.x, at.x), .y = std::min(low.y, at.y), .z = std::min(low.z, at.z)};
    high = {.x = std::max(high.x, at.x), .y = std::max(high.y, at.y), .z = std::max(high.z, at.z)};
  }
  return lanes_where(lanes_at_first(cta, warp), [&](std::uint32_t lane) {
           const Dim3 at = index_of_lane(lane);
           return at.x >= low.x && at.x <= high.x && at.y >= low.y && at.y <= high.y &&
                  at.z >= low.z && at.z <= high.z;
         }) == lanes;
}

// Lanes next to each other: a guard of a linear index.
bool is_run(std::uint32_t lanes) {
  const std::uint32_t from_first = lanes >> first_lane(lanes);
  return (from_first & (from_first + 1)) == 0;
}

}  // namespace

void report_lanes_gone(EngineState& engine, const CtaState& cta, std::uint32_t number,
                       const Barrier& barrier) {
  if (cta.live_threads == cta.launch.threads_per_cta) {
    return;
  }
  for (const WarpState& warp : cta.warps) {
    const Barrier::Arrival& arrival = barrier.arrivals()[warp.warp()];
    const std::uint32_t gone = lanes_at_first(cta, warp.warp()) & ~warp.alive() & ~arrival.lanes;
    if (arrival.waiting == 0 || gone == 0 || !engine.site(arrival.site).aligned ||
        is_run(arrival.waiting) || is_box(cta, warp.warp(), arrival.waiting)) {
      continue;
    }
    BarrierDivergence divergence{
        .severity = Severity::kWarning,
        .launch = cta.launch.info.id,
        .cta = cta.index,
        .barrier = number,
        .arrived = at_barrier(engine, cta, arrival.site, warp.warp(), arrival.waiting)};
    divergence.elsewhere.push_back(at_barrier(engine, cta, warp.exit_site, warp.warp(), gone));
    engine.log.add(std::move(divergence));
    return;
  }
}

bool is_deadlocked(const CtaState& cta) {
  std::uint64_t waiting = 0;
  for (const WarpState& warp : cta.warps) {
    waiting += static_cast<std::uint64_t>(std::popcount(warp.waiting));
  }
  return waiting != 0 && waiting == cta.live_threads;
}

void report_divergence(EngineState& engine, const CtaState& cta) {
  if (!is_deadlocked(cta)) {
    return;  // somebody was still running: the barrier might have opened
  }
  BarrierDivergence divergence{.launch = cta.launch.info.id, .cta = cta.index};
  bool has_first = false;
  for (const auto& [id, barrier] : cta.barriers) {
    for (std::uint32_t warp = 0; warp < barrier.arrivals().size(); ++warp) {
      const Barrier::Arrival& arrival = barrier.arrivals()[warp];
      if (arrival.waiting == 0) {
        continue;
      }
      RaceAccess at = at_barrier(engine, cta, arrival.site, warp, arrival.waiting);
      if (!has_first) {
        has_first = true;
        divergence.barrier = id;
        divergence.arrived = std::move(at);
      } else if (at.site != divergence.arrived.site) {
        divergence.elsewhere.push_back(std::move(at));
      }
    }
  }
  if (has_first) {
    engine.log.add(std::move(divergence));
  }
}

void report_split_warp(EngineState& engine, const Actor& actor, const WarpOperation& operation) {
  const auto site = static_cast<std::uint32_t>(operation.site);
  const auto barrier = actor.cta.barriers.find(operation.event_operand);
  if (!engine.site(site).aligned || barrier == actor.cta.barriers.end()) {
    return;
  }
  const std::uint32_t warp = actor.warp.warp();
  const Barrier::Arrival& before = barrier->second.arrivals()[warp];
  if (before.lanes == 0 || before.site == site || (before.lanes & operation.mask) != 0) {
    return;
  }
  BarrierDivergence divergence{
      .launch = actor.launch(),
      .cta = actor.cta.index,
      .barrier = operation.event_operand,
      .arrived = at_barrier(engine, actor.cta, before.site, warp, before.lanes)};
  divergence.elsewhere.push_back(at_barrier(engine, actor.cta, site, warp, operation.mask));
  engine.log.add(std::move(divergence));
}

}  // namespace barracuda::detector
