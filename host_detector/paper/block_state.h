// The running launches as the rules of the paper see them: blocks with their warps, barriers and
// shared memory. A block is made on its first record and goes with its last thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/launch.h"
#include "host_detector/launches/launch_shape.h"
#include "host_detector/paper/shadow.h"
#include "host_detector/paper/sync_clocks.h"
#include "host_detector/paper/warp_paths.h"

namespace barracuda::detector::paper {

// Lanes that executed a barrier of the block while others of their warp were on other paths.
struct Divergent {
  std::uint32_t barrier = 0, site = 0, lane = 0;
  std::uint32_t missing = 0;  // of which nobody has been seen at a barrier or at its exit
};

struct WarpBarrier {
  std::uint32_t members = 0, arrived = 0;
};

struct WarpState {
  WarpPaths paths;
  std::uint32_t waiting = 0;  // at a barrier of the block
  std::array<std::uint32_t, wire::kWarpLanes> stacks{};
  std::vector<WarpBarrier> warp_barriers;
  std::optional<Divergent> divergent;
};

// One barrier of a block: who has arrived, and what they give.
struct BlockBarrier {
  struct Arrival {
    std::uint32_t lanes = 0, waiting = 0;
    std::uint32_t site = 0;  // where the first of them arrived
  };

  explicit BlockBarrier(std::size_t warps) : arrivals(warps) {}

  std::vector<Arrival> arrivals;  // by warp
  Clock given;
  std::uint64_t waiting = 0;
  std::uint32_t threads = 0;  // 0: all of the block

  // Lanes that wait have arrived, and the number of those that have arrived is right.
  [[nodiscard]] bool is_valid() const;
};

struct LaunchState;

struct BlockState {
  BlockState(LaunchState& of, std::uint32_t index);

  LaunchState& launch;
  std::uint32_t index;
  std::uint32_t cluster;
  CtaKey key;
  std::uint64_t live_threads;
  std::vector<WarpState> warps;
  std::map<std::uint32_t, BlockBarrier> barriers;
  Shadow shared;
  SyncClocks shared_sync;
  boost::unordered_flat_map<std::uint64_t, Clock> mbarriers;  // what was given, by offset
};

// The barrier of a cluster. Arriving and waiting are apart.
struct ClusterBarrier {
  std::uint64_t live_threads = 0, arrived = 0;
  Clock given, complete;
};

struct LaunchState {
  explicit LaunchState(const LaunchInfo& info);

  LaunchShape shape;
  boost::unordered_flat_map<std::uint32_t, std::unique_ptr<BlockState>> blocks;
  std::map<std::uint32_t, ClusterBarrier> cluster_barriers;
  std::vector<bool> finished;
  std::uint64_t live_threads;
  bool ran_with_others = false;  // some other launch is not ordered before this one
  bool lets_dependents_begin = false;
  Clock initial, final;  // what it knew of others when it began, and when it ended

  // As in detector::LaunchState.
  Clock from_grid_wait;

  [[nodiscard]] bool runs_beside(WorkId earlier) const {
    return earlier == shape.info.prerequisite && !from_grid_wait.is_empty();
  }

  // Made if nothing of it came yet; null if it is over, or not of the grid.
  [[nodiscard]] BlockState* find_block(std::uint32_t index);

  [[nodiscard]] bool is_finished(std::uint32_t block) const {
    return block < finished.size() && finished[block];
  }

  [[nodiscard]] SyncClocks::Block sync_block(const BlockState& block) const {
    return {.key = block.key, .grid = shape.info.grid.volume()};
  }
};

// The thread or the warp that acts.
struct Actor {
  BlockState& block;
  WarpState& warp;
};

// The memory that a tagged address of an actor names; nothing for an address that cannot be.
struct MemoryPlace {
  BlockState* shared_of = nullptr;  // null: global memory
  std::uint64_t address = 0;
};

[[nodiscard]] std::optional<MemoryPlace> place_of(std::uint64_t tagged, const Actor& actor,
                                                  std::uint64_t bytes);

}  // namespace barracuda::detector::paper
