// The clusters of one launch (most have one CTA): made, run in slices, ended. Which of them runs
// next is the schedule's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/state/cluster.h"
#include "emulator/state/context.h"
#include "emulator/state/frame_pool.h"
#include "emulator/state/launch.h"

namespace barracuda::emulator {

// One host thread's part in a launch.
struct Worker {
  explicit Worker(Launch& launch)
      : pool(launch.frames, launch.program.functions.size()), context(launch, pool) {}

  FramePool pool;
  Context context;
  std::vector<std::unique_ptr<Cluster>> spare;

  // Adds what was executed to the launch's count.
  void account();
};

enum class SliceResult : std::uint8_t {
  kEnded,  // all threads have exited, or the launch has failed
  kRunning,
  kPolling,  // its warps do little but poll: another cluster should run
};

std::uint64_t cluster_count(const Launch& launch);
std::unique_ptr<Cluster> make_cluster(Worker& worker, std::uint64_t number);
void end_cluster(Worker& worker, std::unique_ptr<Cluster> cluster);

// Round robin over the warps, for about `budget`.
SliceResult run_slice(Worker& worker, Cluster& cluster, std::int32_t budget);
// One warp for about `budget`; `choice` picks it.
SliceResult run_one_warp(Worker& worker, Cluster& cluster, std::uint64_t choice,
                         std::int32_t budget);
// Ends the launch if all threads of the cluster wait, or do nothing but poll mbarriers.
void check_stalled(Launch& launch, const Cluster& cluster);
// Ends the launch when its time is over, and says where the threads of the cluster are then.
void check_deadline(Launch& launch, const Cluster& cluster);

// How many clusters are resident: few at first, more when none of them ends, for they may wait for
// one that has not started.
class Residency {
 public:
  Residency(const Launch& launch, std::uint32_t workers);

  [[nodiscard]] std::uint64_t limit() const { return limit_; }

  // A GPU would not hold more.
  [[nodiscard]] bool is_full() const { return limit_ >= soft_cap_; }

  void ended() { slices_ = 0; }

  void ran(std::uint64_t resident);

 private:
  std::uint64_t limit_, soft_cap_;
  std::uint64_t slices_ = 0;
};

}  // namespace barracuda::emulator
