// Moves knowledge between threads: fences, releases, acquires, barriers, exits (RACE_RULES section
// 1).
#pragma once

#include <cstdint>

#include "host_detector/state/engine_state.h"

namespace barracuda::detector {

class SyncRules {
 public:
  explicit SyncRules(EngineState& engine) : engine_(engine) {}

  // fence.proxy.tensormap: that fence, and what it hands to copies by maps.
  void fence_maps(const Actor& actor, const WarpOperation& operation, const wire::SiteInfo& site);
  void fence(const Actor& actor, std::uint32_t lanes, const wire::SiteInfo& site);
  // The lanes of `operation` that wrote publish; kRelease records.
  void release(const Actor& actor, const WarpOperation& operation);
  // The lanes of `operation` take; kAcquire records. Those of `refused` failed to compare and swap.
  void acquire(const Actor& actor, const WarpOperation& operation, std::uint32_t refused);
  void barrier(const Actor& actor, const WarpOperation& operation, bool waits);
  void warp_barrier(const Actor& actor, const WarpOperation& operation);
  // Up to as many barriers of the whole warp as the number counts (wire::told_number).
  static void warp_barriers(WarpState& warp, std::uint32_t number);
  static void grid_wait(const Actor& actor, std::uint32_t lanes);
  // Lanes that were thought to wait go on: the barrier has opened although not everybody came.
  void open_what_held(const Actor& actor, std::uint32_t lanes);
  void exit(const Actor& actor, std::uint32_t lanes);

 private:
  void publish(const Actor& actor, std::uint32_t lane, const WarpOperation& operation);
  [[nodiscard]] Writer writer(const Actor& actor, std::uint32_t lane, wire::SiteId id) const;
  void take(const Actor& actor, std::uint32_t lanes, const WarpOperation& operation,
            bool is_refused);
  void open(CtaState& cta, std::uint32_t number, Barrier& barrier) const;
  static void open_warp_barrier(WarpState& warp, std::uint32_t waiting);
  static void open_complete_warp_barriers(WarpState& warp);
  void keep_what_launch_learnt(const Actor& actor, std::uint32_t lanes);

  EngineState& engine_;
};

}  // namespace barracuda::detector
