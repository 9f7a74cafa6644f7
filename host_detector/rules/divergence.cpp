#include "host_detector/rules/divergence.h"

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

}  // namespace

void report_divergence(EngineState& engine, const CtaState& cta) {
  std::uint64_t waiting = 0;
  for (const WarpState& warp : cta.warps) {
    waiting += static_cast<std::uint64_t>(std::popcount(warp.waiting));
  }
  if (waiting == 0 || waiting != cta.live_threads) {
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
