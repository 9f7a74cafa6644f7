#include "host_detector/rules/divergence.h"

#include <utility>

namespace barracuda::detector {

void report_divergence(EngineState& engine, const CtaState& cta) {
  const auto place_of_waiter = [&](std::uint32_t site, std::uint32_t warp, std::uint32_t lanes) {
    return RaceAccess{.site = wire::SiteId{site},
                      .call_stack = engine.stacks.calls(cta.warps[warp].stack(first_lane(lanes))),
                      .thread = {.launch = cta.launch.info.id,
                                 .cta = cta.index,
                                 .warp = static_cast<std::uint8_t>(warp),
                                 .lane = static_cast<std::uint8_t>(first_lane(lanes))},
                      .space = wire::AddressSpace::kShared};
  };
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
      RaceAccess at = place_of_waiter(arrival.site, warp, arrival.waiting);
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

}  // namespace barracuda::detector
