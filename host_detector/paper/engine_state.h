// What the parts of the paper's engine share.
#pragma once

#include <cstdint>
#include <memory>

#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/detector_options.h"
#include "host_detector/launches/prerequisites.h"
#include "host_detector/launches/sync_users.h"
#include "host_detector/paper/block_state.h"
#include "host_detector/state/call_stacks.h"
#include "host_detector/state/race_log.h"
#include "host_detector/state/site_list.h"
#include "host_detector/tensor_maps.h"
#include "host_detector/warp_operation.h"

namespace barracuda::detector::paper {

struct EngineState {
  DetectorOptions options;
  SiteList sites;
  TensorMaps tensor_maps;
  LaunchOrder order;
  boost::unordered_flat_map<LaunchId, std::unique_ptr<LaunchState>> running;
  FinalClocks finals;
  Prerequisites prerequisites;
  Shadow global;
  SyncClocks global_sync;
  SyncUsers global_users;  // of global_sync
  CallStacks stacks;
  RaceLog log;

  [[nodiscard]] const wire::SiteInfo& site(std::uint32_t id) const { return sites[id]; }
};

// What a thread did is before what `later` of the actor does now, by C_t or because one launch was
// over before the other began.
[[nodiscard]] bool happens_before(const EngineState& engine, const Epoch& earlier,
                                  const Actor& actor, std::uint32_t later);

}  // namespace barracuda::detector::paper
