// What the parts of the engine share: sites, running launches, global memory and the findings.
// While cluster appliers run (detector.h) only global memory, stacks, the log and the count change,
// and they lock for themselves.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/strong_id.h"
#include "host_detector/detector_options.h"
#include "host_detector/launches/live_copies.h"
#include "host_detector/launches/prerequisites.h"
#include "host_detector/launches/sync_users.h"
#include "host_detector/state/call_stacks.h"
#include "host_detector/state/launch_state.h"
#include "host_detector/state/past_notes.h"
#include "host_detector/state/race_log.h"
#include "host_detector/state/silent_kernels.h"
#include "host_detector/state/site_list.h"
#include "host_detector/tensor_maps.h"
#include "host_detector/warp_operation.h"

namespace barracuda::detector {

struct EngineState {
  DetectorOptions options;
  SiteList sites;
  TensorMaps tensor_maps;
  bool has_narrow_fences = false;  // some site fences for its CTA or cluster only
  bool has_asynchrony = false;     // some site copies asynchronously
  LaunchOrder order;
  boost::unordered_flat_map<LaunchId, std::unique_ptr<LaunchState>> running;
  FinalClocks finals;
  Prerequisites prerequisites;
  ShadowMemory global;
  LiveCopies copies;
  SyncTable global_locations;
  SyncUsers global_users;  // of global_locations
  CallStacks stacks;
  PastNotes past_notes;
  RaceLog log;
  SilentKernels silent;
  std::atomic<std::uint32_t> release_records{0};

  [[nodiscard]] const wire::SiteInfo& site(std::uint32_t id) const { return sites[id]; }
};

// The thread that an operation is about.
struct Actor {
  CtaState& cta;
  WarpState& warp;

  [[nodiscard]] LaunchId launch() const { return cta.launch.info.id; }

  [[nodiscard]] ThreadKey thread(std::uint32_t lane) const {
    return {.cta = cta.key,
            .cluster = cta.cluster,
            .warp = static_cast<std::uint8_t>(warp.warp()),
            .lane = static_cast<std::uint8_t>(lane)};
  }
};

// What is stamped with `time` of `place` happens before what lane `later` of `by` does now.
[[nodiscard]] bool happens_before(const EngineState& engine, const ClockPlace& place, Time time,
                                  const Actor& by, std::uint32_t later);

// The memory that a tagged address of `actor` names: the CTA's own shared memory, another's of its
// cluster, or global memory. Nothing for an address that cannot be.
struct MemoryPlace {
  CtaState* shared_of = nullptr;  // null: global memory
  std::uint64_t address = 0;
  // Every thread that can reach it is of one CTA.
  bool is_cta_local = false;

  [[nodiscard]] wire::AddressSpace space() const {
    return shared_of != nullptr ? wire::AddressSpace::kShared : wire::AddressSpace::kGlobal;
  }
};

[[nodiscard]] std::optional<MemoryPlace> place_of(std::uint64_t tagged, const Actor& actor,
                                                  std::uint32_t bytes);
[[nodiscard]] SyncTable& locations_of(EngineState& engine, const MemoryPlace& place);

}  // namespace barracuda::detector
