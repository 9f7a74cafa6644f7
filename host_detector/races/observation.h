// A strong write, or a flag store that polls saw, is ordered before what comes after a thread that
// observed it, directly or through atomics, for its own location (RACE_RULES section 1).
#pragma once

#include <cstdint>
#include <optional>

#include "host_detector/state/engine_state.h"

namespace barracuda::detector {

// `table` holds what was synchronised through the memory of `byte`, which `older` wrote;
// precedes(observation) says whether an observation comes before the current access.
template <typename Precedes>
bool was_observed(const EngineState& engine, const SyncTable& table, const Cell& older,
                  std::uint64_t byte, Precedes precedes) {
  const wire::SiteInfo& site = engine.site(older.site);
  const bool is_strong = site.order != wire::MemoryOrder::kWeak;
  if (!older.writes() || older.is_asynchronous() || older.is_of_mbarrier() ||
      (!is_strong && !site.flag_store)) {
    return false;
  }
  const std::uint32_t width = std::uint32_t{site.element_bytes} * site.element_count;
  const SyncLocation* location = table.find(byte / width * width, width);
  if (location == nullptr) {
    return false;
  }
  std::optional<std::uint64_t> value;
  if (older.is_published()) {
    value = older.value;
  }
  return location->any_observer(value, older.sequence, [&](const Observation& observation) {
    return (is_strong || observation.is_poll) && precedes(observation);
  });
}

}  // namespace barracuda::detector
