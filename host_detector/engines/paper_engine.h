// The engine of model=paper: the rules of BARRACUDA (PLDI 2017, Figures 2 and 3) on warps in
// lockstep. For one thread.
#pragma once

#include <cstdint>
#include <span>

#include "host_detector/detector.h"
#include "host_detector/paper/access_rules.h"
#include "host_detector/paper/barriers.h"
#include "host_detector/paper/engine_state.h"

namespace barracuda::detector::paper {

class PaperEngine final : public Detector {
 public:
  explicit PaperEngine(const DetectorOptions& options) { engine_.options = options; }

  void add_sites(wire::SiteId first, std::span<const wire::SiteInfo> sites) override;

  void add_tensor_map(std::uint64_t number, const TensorMap& map) override {
    engine_.tensor_maps.add(number, map);
  }

  void begin_launch(const LaunchInfo& launch) override;
  // Copies by the host are not among the paper's operations: they only have their place in the
  // order of launches.
  void apply_copy(const CopyInfo& copy) override;
  void apply(const WarpOperation& operation) override;
  [[nodiscard]] bool launch_over(LaunchId launch) const override;
  void end_launch(LaunchId launch) override;
  void forget(std::uint64_t address, std::uint64_t bytes) override;

  [[nodiscard]] const RaceLog& log() const override { return engine_.log; }

  [[nodiscard]] RaceLog& log() override { return engine_.log; }

 private:
  // False: it cannot be.
  bool try_apply(const WarpOperation& operation);
  bool access(const Actor& actor, const WarpOperation& operation);
  bool plain_access(const Actor& actor, const WarpOperation& operation);
  bool synchronise(const Actor& actor, const WarpOperation& operation);
  void release(const Actor& actor, std::uint32_t lane, const SyncClocks::Bytes& bytes,
               const MemoryPlace& place, const wire::SiteInfo& site);
  bool event(const Actor& actor, const WarpOperation& operation);
  void flow(const Actor& actor, const WarpOperation& operation);
  void call(const Actor& actor, const WarpOperation& operation);
  bool mbarrier(const Actor& actor, const WarpOperation& operation);
  bool copy(const Actor& actor, const WarpOperation& operation);
  bool copy_one(const Actor& actor, std::uint32_t lane, const WarpOperation& operation,
                std::uint64_t target, std::uint64_t mbarrier);
  bool tensor_copy(const Actor& actor, const WarpOperation& operation);
  static bool arrive_by_copy(const Actor& actor, std::uint32_t lane, std::uint64_t mbarrier);
  bool matrix_product(const Actor& actor, const WarpOperation& operation);
  void exit(const Actor& actor, const WarpOperation& operation);
  void finish(LaunchState& launch);
  SyncClocks& sync_of(const MemoryPlace& place);

  EngineState engine_;
  AccessRules accesses_{engine_};
  Barriers barriers_{engine_};
};

}  // namespace barracuda::detector::paper
