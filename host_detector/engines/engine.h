// What orders accesses and finds races, behind a Detector: one engine for each Model. Its functions
// are Detector's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host_detector/cluster_part.h"
#include "host_detector/copy.h"
#include "host_detector/state/race_log.h"
#include "host_detector/warp_operation.h"

namespace barracuda::detector {

class Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  virtual void add_sites(wire::SiteId first, std::span<const wire::SiteInfo> sites) = 0;
  virtual void add_tensor_map(std::uint64_t number, const TensorMap& map) = 0;
  virtual void begin_launch(const LaunchInfo& launch) = 0;
  virtual void apply_copy(const CopyInfo& copy) = 0;
  virtual void apply(const WarpOperation& operation) = 0;

  // For several threads, each with a part of its own. False: refused, as all are by an engine that
  // is for one thread.
  [[nodiscard]] virtual ClusterPart begin_part(LaunchId launch) { return {.launch = launch}; }

  virtual bool apply_part(ClusterPart& /*part*/, const WarpOperation& /*operation*/) {
    return false;
  }

  // Nothing of it waits any more.
  virtual void end_part(ClusterPart& /*part*/) {}

  virtual void count(std::uint64_t applied, std::uint64_t rejected) {
    applied_ += applied;
    rejected_ += rejected;
  }

  [[nodiscard]] virtual std::uint64_t contentions() const { return 0; }

  [[nodiscard]] virtual bool launch_over(LaunchId launch) const = 0;
  virtual void end_launch(LaunchId launch) = 0;
  virtual void forget(std::uint64_t address, std::uint64_t bytes) = 0;

  [[nodiscard]] virtual std::vector<LaunchId> find_deadlocked() const { return {}; }

  [[nodiscard]] virtual const RaceLog& log() const = 0;

  [[nodiscard]] std::uint64_t applied() const { return applied_; }

  [[nodiscard]] std::uint64_t rejected() const { return rejected_; }

 private:
  std::uint64_t applied_ = 0, rejected_ = 0;  // operations
};

}  // namespace barracuda::detector
