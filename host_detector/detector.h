// The happens-before engine of one session (RACE_RULES.md). Takes warp-level operations in an order
// that is consistent with synchronisation (ordering.h sees to that) and collects findings. Not
// thread-safe, but for cluster appliers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "host_detector/copy.h"
#include "host_detector/launch.h"
#include "host_detector/race_event.h"

namespace barracuda::detector {

struct CtaState;
struct LaunchState;

// What orders accesses: the PTX memory model, or the rules of BARRACUDA (PLDI 2017).
enum class Model : std::uint8_t { kPtx, kPaper };

struct DetectorOptions {
  bool report_same_value = false;     // lanes of one instruction storing the same value: a warning
  bool acquire_relaxed_spin = false;  // acquire=relaxed-spin
  Model model = Model::kPtx;
};

// One lane of an access.
struct LaneAccess {
  std::uint64_t address = 0;                        // tagged (wire::tagged_address)
  std::uint64_t value_read = 0, value_written = 0;  // kOperands: second, third
  std::uint16_t flags = 0;                          // wire::kLane…
  std::uint32_t amount = 0;                         // kOperands alone
};

// One record, decoded: what a warp did.
struct WarpOperation {
  wire::RecordKind kind = wire::RecordKind::kVoid;
  LaunchId launch{};
  wire::SiteId site{};
  std::uint32_t cta = 0;
  std::uint8_t warp = 0;
  std::uint32_t mask = 0;
  bool lanes_agree = false;
  // Lanes with the same lane >> row_log2 are `row_stride` bytes apart; 0: nothing is known.
  std::uint8_t row_log2 = 0;
  std::int32_t row_stride = 0;
  bool has_uniform_value = false;
  std::uint64_t uniform_value = 0;                 // wire::stored_value
  std::uint32_t event_operand = 0;                 // kEvent: barrier id, member mask, groups
  std::uint32_t event_count = 0;                   // kEvent: threads of the barrier, 0 = all
  std::array<LaneAccess, wire::kWarpLanes> lanes;  // of active lanes, by lane number
  // Else only the first active lane is filled in, and the others lie `row_stride` bytes apart.
  bool has_all_lanes = true;

  // Only where they are not all filled in.
  [[nodiscard]] WarpOperation with_all_lanes() const;
};

class Detector {
  struct State;

 public:
  // The operations of one cluster (of one CTA where there are none): each may be applied by
  // another thread while nothing else is done with the detector.
  class ClusterApplier {
   public:
    ClusterApplier(Detector& detector, LaunchId launch);
    // As Detector::apply, but counts nothing: true if it was applied. Not for a release or an
    // acquire of global memory, which concerns other clusters.
    bool apply(const WarpOperation& operation);

    [[nodiscard]] LaunchId launch() const { return id_; }

   private:
    State& detector_;
    LaunchId id_;
    LaunchState* launch_;      // null: it does not run
    CtaState* cta_ = nullptr;  // of the last operation
  };

  explicit Detector(const DetectorOptions& options = {});
  ~Detector();
  Detector(const Detector&) = delete;
  Detector& operator=(const Detector&) = delete;

  // Sites are consecutive from `first`; a module's sites are added before its first launch.
  void add_sites(wire::SiteId first, std::span<const wire::SiteInfo> sites);
  void begin_launch(const LaunchInfo& launch);
  // A copy, once all that it is ordered after is over; then it is over as well.
  void apply_copy(const CopyInfo& copy);
  // Errors in the operation (unknown launch or site, absurd CTA) are counted, not applied.
  void apply(const WarpOperation& operation);
  // After cluster appliers: so many of their operations were applied and refused.
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
  std::unique_ptr<State> state_;
};

}  // namespace barracuda::detector
