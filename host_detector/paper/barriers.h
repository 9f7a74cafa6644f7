// BAR (BARRACUDA, PLDI 2017, Figure 3), and the barriers that came after the paper: of a warp, with
// a number, of a cluster. All join what those who arrive know, for those who wait.
#pragma once

#include <cstdint>

#include "host_detector/paper/engine_state.h"

namespace barracuda::detector::paper {

class Barriers {
 public:
  explicit Barriers(EngineState& engine) : engine_(engine) {}

  void block_barrier(const Actor& actor, const WarpOperation& operation, bool waits);
  static void warp_barrier(const Actor& actor, std::uint32_t lanes, std::uint32_t members);
  static void cluster_arrive(const Actor& actor, std::uint32_t lanes, bool gives);
  static void cluster_wait(const Actor& actor, std::uint32_t lanes);
  // Lanes that were thought to wait go on: the barrier has opened although not everybody came.
  static void open_what_held(const Actor& actor, std::uint32_t lanes);
  // `lanes` are about to leave the kernel, at `site`.
  void exit(const Actor& actor, std::uint32_t lanes, std::uint32_t site);
  // The launch is force-ended: says who waits in vain.
  void report_waiting(const BlockState& block);

 private:
  void watch_for_divergence(const Actor& actor, const WarpOperation& operation);
  // Lanes of which others of their warp were missing have turned up.
  void see_missing(const Actor& actor, std::uint32_t lanes, std::uint32_t site);
  void report(const BlockState& block, const WarpState& warp, const Divergent& divergent,
              const RaceAccess* elsewhere);

  EngineState& engine_;
};

}  // namespace barracuda::detector::paper
