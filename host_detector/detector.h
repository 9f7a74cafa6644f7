// The happens-before detector of one session (RACE_RULES.md). Takes warp-level operations in an
// order that is consistent with synchronisation (ordering.h sees to that) and collects findings:
// one engine for each Model, in engines/. Not thread-safe, but for cluster appliers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "host_detector/cluster_part.h"
#include "host_detector/copy.h"
#include "host_detector/detector_options.h"
#include "host_detector/launch.h"
#include "host_detector/race_event.h"
#include "host_detector/warp_operation.h"

namespace barracuda::detector {

class RaceLog;

class Detector {
 public:
  // The operations of one cluster (of one CTA where there are none): each may be applied by
  // another thread while nothing else is done with the detector. Refuses all in model=paper. A
  // thread has one at a time.
  class ClusterApplier {
   public:
    ClusterApplier(Detector& detector, LaunchId launch);
    ~ClusterApplier();
    ClusterApplier(const ClusterApplier&) = delete;
    ClusterApplier& operator=(const ClusterApplier&) = delete;
    // As Detector::apply, but counts nothing: true if it was applied. Not for a release or an
    // acquire of global memory, which concerns other clusters.
    bool apply(const WarpOperation& operation);

   private:
    Detector& detector_;
    ClusterPart part_;
  };

  Detector() = default;
  virtual ~Detector() = default;
  Detector(const Detector&) = delete;
  Detector& operator=(const Detector&) = delete;

  // Sites are consecutive from `first`; a module's sites are added before its first launch.
  virtual void add_sites(wire::SiteId first, std::span<const wire::SiteInfo> sites) = 0;
  // What the program has written a tensor map for; before a launch that copies by it.
  virtual void add_tensor_map(std::uint64_t number, const TensorMap& map) = 0;
  virtual void begin_launch(const LaunchInfo& launch) = 0;
  // A copy, once all that it is ordered after is over; then it is over as well.
  virtual void apply_copy(const CopyInfo& copy) = 0;
  // Errors in the operation (unknown launch or site, absurd CTA) are counted, not applied.
  virtual void apply(const WarpOperation& operation) = 0;

  // Adds what cluster appliers have applied and refused.
  virtual void count(std::uint64_t applied, std::uint64_t rejected) {
    applied_ += applied;
    rejected_ += rejected;
  }

  // How often cluster appliers waited for each other. Asked from any thread.
  [[nodiscard]] virtual std::uint64_t contentions() const { return 0; }

  // RaceLog::limit(), before the first operation.
  void limit_races(std::uint64_t most, std::function<void(wire::SiteId)> on_enough);

  // All threads have left. True once every exit was applied, or after end_launch.
  [[nodiscard]] virtual bool launch_over(LaunchId launch) const = 0;
  // Force-ends a launch that trapped or failed.
  virtual void end_launch(LaunchId launch) = 0;
  // Memory was freed (or reused in stream order): its shadow is forgotten.
  virtual void forget(std::uint64_t address, std::uint64_t bytes) = 0;

  // The running launches with a block that can never end: all its threads that are left wait at
  // barriers, and none of these can open. (model=ptx; of the paper's model there are none.)
  [[nodiscard]] virtual std::vector<LaunchId> find_deadlocked() const { return {}; }

  [[nodiscard]] const Findings& findings() const;
  // Asked from any thread, while operations are applied.
  [[nodiscard]] Findings findings_so_far() const;
  // Grows with every new finding and every one that became worse; asked from any thread.
  [[nodiscard]] std::uint64_t finding_changes() const;

  [[nodiscard]] std::uint64_t applied() const { return applied_; }

  [[nodiscard]] std::uint64_t rejected() const { return rejected_; }

 private:
  // A cluster applier's. One that is for one thread refuses all.
  [[nodiscard]] virtual ClusterPart begin_part(LaunchId launch) { return {.launch = launch}; }

  virtual bool apply_part(ClusterPart& /*part*/, const WarpOperation& /*operation*/) {
    return false;
  }

  // Nothing of it waits any more.
  virtual void end_part(ClusterPart& /*part*/) {}

  [[nodiscard]] virtual const RaceLog& log() const = 0;
  [[nodiscard]] virtual RaceLog& log() = 0;

  std::uint64_t applied_ = 0, rejected_ = 0;  // operations
};

// The engine of the options' model.
std::unique_ptr<Detector> make_detector(const DetectorOptions& options = {});

}  // namespace barracuda::detector
