// A launch of rewritten code under stress: which block and which warp of the program those of the
// device are, and which blocks are none of the program's and disturb memory. What the host fills
// in, and what host and device make of it. All as it is by default: nothing is changed.
#pragma once

#include <cstdint>

#include "device_logger/block_order.h"
#include "device_logger/record.h"
#include "device_logger/stress_shape.h"

namespace barracuda::wire {

struct StressedLaunch {
  std::uint32_t grid[3] = {1, 1, 1};     // blocks, as the program asked for them
  std::uint32_t cluster[3] = {1, 1, 1};  // blocks of a cluster
  BlockOrder clusters;                   // of the program's clusters
  BlockOrder warps;                      // of the units of a block's warps
  std::uint32_t warps_together = 0;      // warps of a unit; 0: threads keep their numbers
  // Clusters that the program did not ask for, as many in every stretch of the grid.
  std::uint32_t extra = 0;
  std::uint32_t phase = 0;        // below the number of all clusters: where the first of them is
  std::uint32_t seed = 0;         // of the disturbance
  std::uint32_t looks = 0;        // that a disturbing thread takes whether it is over, at most
  std::uint32_t nanoseconds = 0;  // that it goes on, at most; 0: by its looks alone
  std::uint64_t scratch = 0;      // what is disturbed
  stress::StressShape stress;
};

// Clusters that are none of the program's before the device's cluster `cluster` of `all`.
BARRACUDA_WIRE std::uint32_t extra_before(const StressedLaunch& launch, std::uint32_t cluster,
                                          std::uint32_t all) {
  return static_cast<std::uint32_t>((std::uint64_t{cluster} * launch.extra + launch.phase) / all);
}

BARRACUDA_WIRE bool is_extra(const StressedLaunch& launch, std::uint32_t cluster,
                             std::uint32_t all) {
  return launch.extra != 0 &&
         extra_before(launch, cluster + 1, all) != extra_before(launch, cluster, all);
}

// The program's number of a cluster that is not extra.
BARRACUDA_WIRE std::uint32_t program_cluster(const StressedLaunch& launch, std::uint32_t cluster,
                                             std::uint32_t all) {
  return program_block(launch.clusters, cluster - extra_before(launch, cluster, all),
                       all - launch.extra);
}

// The program's number, within a block of `threads`, of the device's thread `thread`. Lanes stay in
// their warps and warps in their units; what is no whole unit keeps its numbers.
BARRACUDA_WIRE std::uint32_t program_thread(const StressedLaunch& launch, std::uint32_t thread,
                                            std::uint32_t threads) {
  const std::uint32_t unit_threads = launch.warps_together * kWarpLanes;
  if (unit_threads == 0 || thread / unit_threads >= threads / unit_threads) {
    return thread;
  }
  const std::uint32_t unit =
      program_block(launch.warps, thread / unit_threads, threads / unit_threads);
  return unit * unit_threads + thread % unit_threads;
}

}  // namespace barracuda::wire
