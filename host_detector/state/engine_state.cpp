#include "host_detector/state/engine_state.h"

namespace barracuda::detector {

bool happens_before(const EngineState& engine, const ClockPlace& place, Time time, const Actor& by,
                    std::uint32_t later) {
  if (place.cta == by.cta.key && place.slot == warp_slot(by.warp.warp()) && place.lane == later) {
    return true;
  }
  const Clock& clock = by.warp.state(later).clock;
  if (clock.at(place) >= time) {
    return true;
  }
  const WorkId launch = place.cta.work();
  return launch != by.launch() &&
         (engine.order.is_before(launch, by.launch()) || knows_end_of(engine.order, launch, clock));
}

std::optional<MemoryPlace> place_of(std::uint64_t tagged, const Actor& actor, std::uint32_t bytes) {
  const std::uint64_t address = wire::address_of(tagged);
  const wire::AddressSpace space = wire::space_of(tagged);
  if (space == wire::AddressSpace::kGlobal) {
    return MemoryPlace{.shared_of = nullptr, .address = address, .is_cta_local = false};
  }
  CtaState* owner = &actor.cta;
  std::uint64_t offset = address;
  if (space == wire::AddressSpace::kSharedCluster) {
    const auto rank = static_cast<std::uint32_t>(address >> 32);
    offset = address & 0xFFFFFFFFU;
    const auto index = actor.cta.launch.cta_of_rank(actor.cta.index, rank);
    if (!index) {
      return std::nullopt;
    }
    owner = actor.cta.launch.find_cta(*index);
    if (owner == nullptr) {
      return std::nullopt;
    }
  } else if (space != wire::AddressSpace::kShared) {
    return std::nullopt;
  }
  if (offset + bytes > SharedShadow::kLimit) {
    return std::nullopt;
  }
  return MemoryPlace{
      .shared_of = owner, .address = offset, .is_cta_local = !actor.cta.launch.has_clusters()};
}

SyncTable& locations_of(EngineState& engine, const MemoryPlace& place) {
  return place.shared_of != nullptr ? place.shared_of->shared_locations : engine.global_locations;
}

}  // namespace barracuda::detector
