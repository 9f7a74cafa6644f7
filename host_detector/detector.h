// The happens-before detector of one session (RACE_RULES.md). Takes warp-level operations in an
// order that is consistent with synchronisation (ordering.h sees to that) and collects findings, by
// the engine of its model. Not thread-safe, but for cluster appliers.
#pragma once

#include <cstdint>
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

class Engine;

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
    Engine& engine_;
    ClusterPart part_;
  };

  explicit Detector(const DetectorOptions& options = {});
  ~Detector();
  Detector(const Detector&) = delete;
  Detector& operator=(const Detector&) = delete;

  // Sites are consecutive from `first`; a module's sites are added before its first launch.
  void add_sites(wire::SiteId first, std::span<const wire::SiteInfo> sites);
  // What the program has written a tensor map for; before a launch that copies by it.
  void add_tensor_map(std::uint64_t number, const TensorMap& map);
  void begin_launch(const LaunchInfo& launch);
  // A copy, once all that it is ordered after is over; then it is over as well.
  void apply_copy(const CopyInfo& copy);
  // Errors in the operation (unknown launch or site, absurd CTA) are counted, not applied.
  void apply(const WarpOperation& operation);
  // Adds what cluster appliers have applied and refused.
  void count(std::uint64_t applied, std::uint64_t rejected);
  // How often cluster appliers waited for each other. Asked from any thread.
  [[nodiscard]] std::uint64_t contentions() const;
  // All threads have left. True once every exit was applied, or after end_launch.
  [[nodiscard]] bool launch_over(LaunchId launch) const;
  // Force-ends a launch that trapped or failed.
  void end_launch(LaunchId launch);
  // Memory was freed (or reused in stream order): its shadow is forgotten.
  void forget(std::uint64_t address, std::uint64_t bytes);

  // The running launches with a block that can never end: all its threads that are left wait at
  // barriers, and none of these can open. (model=ptx; of the paper's model there are none.)
  [[nodiscard]] std::vector<LaunchId> find_deadlocked() const;

  [[nodiscard]] const Findings& findings() const;
  // Asked from any thread, while operations are applied.
  [[nodiscard]] Findings findings_so_far() const;
  // Grows with every new finding and every one that became worse; asked from any thread.
  [[nodiscard]] std::uint64_t finding_changes() const;
  [[nodiscard]] std::uint64_t applied() const;
  [[nodiscard]] std::uint64_t rejected() const;

 private:
  std::unique_ptr<Engine> engine_;
};

}  // namespace barracuda::detector
