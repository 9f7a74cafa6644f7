// The engine of model=ptx: the PTX memory model (RACE_RULES.md). Several threads may apply a
// cluster's operations each.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "host_detector/detector.h"
#include "host_detector/happens_before/async_copy_rules.h"
#include "host_detector/happens_before/sync_rules.h"
#include "host_detector/races/access_check.h"
#include "host_detector/races/copy_check.h"

namespace barracuda::detector {

class PtxEngine final : public Detector {
 public:
  explicit PtxEngine(const DetectorOptions& options);

  void add_sites(wire::SiteId first, std::span<const wire::SiteInfo> sites) override;

  void add_tensor_map(std::uint64_t number, const TensorMap& map) override {
    engine_.tensor_maps.add(number, map);
  }

  void begin_launch(const LaunchInfo& launch) override;

  void apply_copy(const CopyInfo& copy) override { copies_.apply(copy); }

  void apply(const WarpOperation& operation) override;
  [[nodiscard]] ClusterPart begin_part(LaunchId launch) override;
  bool apply_part(ClusterPart& part, const WarpOperation& operation) override;
  void end_part(ClusterPart& part) override;
  void count(std::uint64_t applied, std::uint64_t rejected) override;

  [[nodiscard]] std::uint64_t contentions() const override { return engine_.global.contentions(); }

  [[nodiscard]] bool launch_over(LaunchId launch) const override;
  void end_launch(LaunchId launch) override;
  void forget(std::uint64_t address, std::uint64_t bytes) override;
  [[nodiscard]] std::vector<LaunchId> find_deadlocked() const override;

  [[nodiscard]] const RaceLog& log() const override { return engine_.log; }

  [[nodiscard]] RaceLog& log() override { return engine_.log; }

 private:
  bool apply_in_cta(CtaState& cta, const WarpOperation& operation, const wire::SiteInfo& site);
  // One after the other, each warp with all its threads.
  bool apply_to_block(CtaState& cta, const WarpOperation& operation, const wire::SiteInfo& site);
  // What a whole block does of which nothing else came: its threads know and have done nothing, so
  // that a barrier changes nothing. False if it is something else.
  bool apply_to_untouched(LaunchState& launch, const WarpOperation& operation,
                          const wire::SiteInfo& site);
  // Whether it is a barrier to be put off (CtaState::put_off).
  [[nodiscard]] static bool puts_off(const CtaState& cta, const WarpOperation& operation,
                                     const wire::SiteInfo& site);
  void apply_put_off(CtaState& cta);
  [[nodiscard]] ClusterPart part_of(LaunchId launch);
  // True if that is all for now. Before anything that atomics may not wait for they are taken.
  bool gather(GatheredAtomics& atomics, CtaState& cta, const WarpOperation& operation,
              const wire::SiteInfo& site);
  // Whether the lanes can do it; what they waited for is over then.
  bool takes_part(const Actor& actor, const WarpOperation& operation, const wire::SiteInfo& site);
  bool access(const Actor& actor, const WarpOperation& operation, const wire::SiteInfo& site);
  bool event(const Actor& actor, const WarpOperation& operation, const wire::SiteInfo& site);
  bool perform(const Actor& actor, const WarpOperation& operation, const wire::SiteInfo& site);
  void exit(const Actor& actor, const WarpOperation& operation);
  void finish(LaunchState& launch);
  void finish_all();

  EngineState engine_;
  AccessCheck accesses_{engine_};
  CopyCheck copies_{engine_};
  SyncRules sync_rules_{engine_};
  AsyncCopyRules async_copy_rules_{engine_, accesses_};
  ClusterPart last_part_;  // of operations applied one by one, while its launch runs
  std::mutex mutex_;
  std::vector<LaunchId> over_;  // launches whose last thread has left
};

}  // namespace barracuda::detector
