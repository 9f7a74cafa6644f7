// The barrier of one cluster (RACE_RULES section 1, barriers). Arriving and waiting are apart: a
// thread may arrive for the next phase before another one's wait for the last was recorded.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "host_detector/sync/barrier.h"

namespace barracuda::detector {

class ClusterBarrier {
 public:
  explicit ClusterBarrier(std::uint64_t live_threads) : live_threads_(live_threads) {}

  // Lanes of `warp` give all they know; by a relaxed arrival only what they released by fences.
  void arrive(WarpState& warp, std::uint32_t lanes, bool is_relaxed);
  // Their wait is over: they take what the last complete phase was given.
  void wait(WarpState& warp, std::uint32_t lanes);

  // Every thread of the cluster has left.
  [[nodiscard]] bool is_over() const { return live_threads_ == 0; }

  // Lanes of `warp` have left the kernel.
  void on_exit(const WarpState& warp, std::uint32_t lanes);

 private:
  void open_if_complete();
  void open();

  std::uint64_t live_threads_;
  std::uint64_t arrived_threads_ = 0;                                   // that live
  std::map<std::pair<CtaKey, std::uint32_t>, std::uint32_t> arrivals_;  // lanes, by warp
  std::map<CtaKey, Gathering> given_;                                   // by CTA
  Clock fenced_;                                                        // of relaxed arrivals
  ThreadState complete_;
};

}  // namespace barracuda::detector
